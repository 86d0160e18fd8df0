package config

import (
	"cmp"
	"strings"
)

// StandIns returns a value for every input of the server: the one in given, else one that the file allows: the first
// option, the default, or "1", which is valid in nearly every text. An input at the beginning of the address gets
// "https://1". With these values, everything about a server can be seen that does not depend on what a person would
// type.
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

// Inputs returns a function for Variables.Input that takes the values from a map by the ids of inputs.
func Inputs(values map[string]string) func(id string) (string, bool) {
	return func(id string) (string, bool) {
		value, ok := values[id]
		return value, ok
	}
}
