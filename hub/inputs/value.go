package inputs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// maxBytes bounds a value that the user gives, since the value has to fit into an environment.
const maxBytes = 64 << 10

// Of returns the inputs that a server refers to and that its file defines, in the order of their first use.
func Of(conf config.Server) (list []config.Input) {
	for _, id := range conf.InputIDs() {
		if i := slices.IndexFunc(conf.Inputs, func(in config.Input) bool { return in.ID == id }); i >= 0 {
			list = append(list, conf.Inputs[i])
		}
	}
	return list
}

// Now returns an input as a config defines it now. If the config does not define an input with its file and id, it
// returns the input unchanged.
func Now(conf *config.Server, in config.Input) config.Input {
	if now, ok := find(conf, in.Origin.File, in.ID); ok {
		return now
	}
	return in
}

func find(conf *config.Server, file, id string) (config.Input, bool) {
	i := slices.IndexFunc(conf.Inputs, func(in config.Input) bool { return in.ID == id && in.Origin.File == file })
	if i < 0 {
		return config.Input{}, false
	}
	return conf.Inputs[i], true
}

// Question returns the question with which a person is asked for an input.
func Question(in config.Input) *event.InputQuestion {
	q := &event.InputQuestion{
		InputID: in.ID, Description: in.Description, Secret: in.Secret, Default: in.Default, ConfigFile: in.Origin.File,
		ConfigLine: in.Origin.Line,
	}
	for _, o := range in.Options {
		q.Options = append(q.Options, event.InputOption{Value: o.Value, Label: o.Label})
	}
	return q
}

// Changed reports whether a config now asks for the input of q in another way. The place of the input in its file does
// not matter.
func Changed(conf *config.Server, q *event.InputQuestion) bool {
	in, ok := find(conf, q.ConfigFile, q.InputID)
	return ok && !same(Question(in), q)
}

func same(a, b *event.InputQuestion) bool {
	return a.Description == b.Description && a.Secret == b.Secret && a.Default == b.Default &&
		slices.Equal(a.Options, b.Options) && (a.Options == nil) == (b.Options == nil)
}

// Wrong returns what is wrong with the content of an answer, "" if nothing is. It does not quote the content.
func Wrong(q *event.InputQuestion, content string) string {
	value, ok := "", false
	if len(content) <= 6*maxBytes { // each byte may be escaped
		value, ok = valueIn(content)
	}
	if !ok {
		return "the value of an input is a JSON string"
	}
	var options []config.InputOption
	for _, o := range q.Options {
		options = append(options, config.InputOption{Value: o.Value})
	}
	return wrong(options, value)
}

func valueIn(content string) (string, bool) {
	var value *string
	if json.Unmarshal([]byte(content), &value) != nil || value == nil {
		return "", false
	}
	return *value, true
}

// wrong returns why value is not permitted for an input, "" if it is.
func wrong(options []config.InputOption, value string) string {
	switch {
	case len(value) > maxBytes:
		return fmt.Sprintf("the value of an input has at most %d bytes", maxBytes)
	case strings.ContainsRune(value, 0):
		return "the value of an input must not hold a zero byte"
	case options != nil && !slices.ContainsFunc(options, func(o config.InputOption) bool { return o.Value == value }):
		return "the value is none of the options"
	}
	return ""
}

// Missing returns the error for a server that was not started because an input has no value.
func Missing(server string, in config.Input) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonInputMissing,
		[]string{"server", server, "input", bounds.Printable(in.ID)},
		"server %q was not started: the input %q (%s:%d) has no value; start the server to be asked for it", server,
		bounds.Printable(in.ID), in.Origin.File, in.Origin.Line)
}
