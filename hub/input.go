package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// methodInput is the method of the request that stands for the question for a value.
const methodInput = "input"

// maxInputBytes bounds a value that the user gives, in bytes: it has to fit an environment.
const maxInputBytes = 64 << 10

// errNotGiven: the user was asked for a value and gave none.
var errNotGiven = errors.New("the user gave no value")

// inputValues gathers the inputs that a server refers to, one after the other: from what the hub keeps, else from the
// user. An input that its file does not have is left out; resolving says so.
func (h *Hub) inputValues(ctx context.Context, s *server, conf config.Server, byHand bool) (map[string]string, error) {
	var values map[string]string
	for _, in := range inputsOf(conf) {
		value, err := h.together(ctx, sharedKey{file: in.Origin.File, input: in.ID}, s, func(t *shared) (string, error) {
			return h.findInput(ctx, s, in, t, byHand)
		})
		if errors.Is(err, errNotGiven) {
			err = errInputMissing(s, in)
		}
		if err != nil {
			return nil, err
		}
		if values == nil {
			values = map[string]string{}
		}
		values[in.ID] = value
	}
	return values, nil
}

// keptInputs is inputValues without a question.
func (h *Hub) keptInputs(s *server, conf config.Server) (map[string]string, error) {
	values := map[string]string{}
	for _, in := range inputsOf(conf) {
		value, ok := h.keptInput(in)
		if !ok {
			return nil, errInputMissing(s, in)
		}
		values[in.ID] = value
	}
	return values, nil
}

// inputsOf gives the inputs that a server refers to and its file has, in the order of their first use.
func inputsOf(conf config.Server) (list []config.Input) {
	for _, id := range conf.InputIDs() {
		if i := slices.IndexFunc(conf.Inputs, func(in config.Input) bool { return in.ID == id }); i >= 0 {
			list = append(list, conf.Inputs[i])
		}
	}
	return list
}

// keptInput gives the value that the hub keeps for an input, if it still fits. The file and the keyring are used: not
// under the lock.
func (h *Hub) keptInput(in config.Input) (string, bool) {
	value, ok := h.inputs.get(in)
	if !ok || wrongInput(in.Options, value) != "" {
		return "", false
	}
	h.secretInput(in, value)
	return value, true
}

// secretInput makes the hub keep a value to itself, if it is secret, before anything is done with it.
func (h *Hub) secretInput(in config.Input, value string) {
	if in.Secret {
		h.redactor.Add(value)
	}
}

// findInput gives the value of one input for all who wait for it.
func (h *Hub) findInput(ctx context.Context, s *server, in config.Input, t *shared, byHand bool) (string, error) {
	if value, ok := h.keptInput(in); ok {
		return value, nil
	}
	for {
		h.update(func() {
			if now, ok := inputNow(s, in.Origin.File, in.ID); ok {
				in = now
			}
		})
		answer, err := h.askAboutServer(ctx, s, &serverQuestion{
			name: "input", method: methodInput, subject: in.ID, wants: fmt.Sprintf("the input %q of its config",
				bounds.Printable(in.ID)), kinds: "config inputs",
			info: event.PromptInfo{Kind: event.PromptConfigInput, Input: questionOf(in)}, with: t,
			byHand: func() bool { return byHand },
		})
		switch {
		case err != nil:
			return "", ofAll(err)
		case answer.cause == event.CauseSuperseded: // the input has changed, or the last window went and another came
			continue
		case answer.cause != event.CauseAnswered:
			return "", errNotGiven
		}
		value, err := inputValue(answer.content)
		if err != nil {
			return "", errNotGiven // cannot be: Answer has looked at it
		}
		h.secretInput(in, value)
		h.inputs.put(in, value, answer.byHost)
		return value, nil
	}
}

// inputNow gives an input of a file as the config of s has it now. h.mu is held.
func inputNow(s *server, file, id string) (config.Input, bool) {
	i := slices.IndexFunc(s.Conf().Inputs, func(in config.Input) bool { return in.ID == id && in.Origin.File == file })
	if i < 0 {
		return config.Input{}, false
	}
	return s.Conf().Inputs[i], true
}

func questionOf(in config.Input) *event.InputQuestion {
	q := &event.InputQuestion{
		InputID: in.ID, Description: in.Description, Secret: in.Secret, Default: in.Default, ConfigFile: in.Origin.File,
		ConfigLine: in.Origin.Line,
	}
	for _, o := range in.Options {
		q.Options = append(q.Options, event.InputOption{Value: o.Value, Label: o.Label})
	}
	return q
}

// sameInput tells whether two questions ask for the same; where the input stands in its file does not matter.
func sameInput(a, b *event.InputQuestion) bool {
	return a.Description == b.Description && a.Secret == b.Secret && a.Default == b.Default &&
		slices.Equal(a.Options, b.Options) && (a.Options == nil) == (b.Options == nil)
}

// inputValue reads the content of an answer.
func inputValue(content string) (value string, err error) {
	err = json.Unmarshal([]byte(content), &value)
	return value, err
}

// checkInput says what is wrong with the content of an answer, "" for nothing. It does not quote it.
func checkInput(q *event.InputQuestion, content string) string {
	var value *string
	if len(content) > 6*maxInputBytes || json.Unmarshal([]byte(content), &value) != nil || value == nil {
		return "the value of an input is a JSON string"
	}
	var options []config.InputOption
	for _, o := range q.Options {
		options = append(options, config.InputOption{Value: o.Value})
	}
	return wrongInput(options, *value)
}

// wrongInput says why a value is none for an input, "" when it is one.
func wrongInput(options []config.InputOption, value string) string {
	switch {
	case len(value) > maxInputBytes:
		return fmt.Sprintf("the value of an input has at most %d bytes", maxInputBytes)
	case strings.ContainsRune(value, 0):
		return "the value of an input must not hold a zero byte"
	case options != nil && !slices.ContainsFunc(options, func(o config.InputOption) bool { return o.Value == value }):
		return "the value is none of the options"
	}
	return ""
}

func errInputMissing(s *server, in config.Input) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonInputMissing,
		[]string{"server", s.name, "input", bounds.Printable(in.ID)},
		"server %q was not started: the input %q (%s:%d) has no value; start the server to be asked for it", s.name,
		bounds.Printable(in.ID), in.Origin.File, in.Origin.Line)
}
