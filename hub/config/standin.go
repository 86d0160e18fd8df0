package config

import (
	"cmp"
	"strings"
)

// StandIns gives every input of the server a value: that of given, else one that its file allows. With them all can be
// seen of a server that does not depend on what a person would type. A number can be a part of nearly everything; where
// an address begins with the input, it stands for one.
func (s Server) StandIns(given map[string]string) map[string]string {
	values := make(map[string]string, len(s.Inputs))
	for _, in := range s.Inputs {
		value, ok := given[in.ID]
		switch {
		case ok && in.allows(value):
		case len(in.Options) > 0:
			value = in.Options[0].Value
		case strings.HasPrefix(s.URL, "${input:"+in.ID+"}"):
			value = cmp.Or(in.Default, "https://1")
		default:
			value = cmp.Or(in.Default, "1")
		}
		values[in.ID] = value
	}
	return values
}

// Inputs makes an Input of Variables from values by the ids of inputs.
func Inputs(values map[string]string) func(id string) (string, bool) {
	return func(id string) (string, bool) {
		value, ok := values[id]
		return value, ok
	}
}
