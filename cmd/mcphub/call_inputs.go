package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// inputFlags are the values of inputs that the command line gives. They may be secret, so no message quotes one.
// Package flag quotes a value that its function refuses, so the values are checked later.
type inputFlags struct {
	given  []string
	values map[string]string // by id; set by check
}

func (f *inputFlags) register(set *pflag.FlagSet) {
	set.Func("input",
		"ID=VALUE\tgive a value that a config file asks for, or with ID=@NAME that of an environment variable; may be repeated", func(v string) error {
			f.given = append(f.given, v)
			return nil
		})
}

func (f *inputFlags) check() error {
	if len(f.given) > 0 {
		f.values = make(map[string]string, len(f.given))
	}
	for _, g := range f.given {
		id, value, ok := strings.Cut(g, "=")
		if !ok || id == "" {
			return errors.New("--input: it is ID=VALUE or ID=@NAME, and one of them is not")
		}
		if _, twice := f.values[id]; twice {
			return fmt.Errorf("--input %s: is given twice", id)
		}
		if rest, at := strings.CutPrefix(value, "@"); at && !strings.HasPrefix(rest, "@") {
			if value, ok = os.LookupEnv(rest); !ok {
				return fmt.Errorf("--input %s: its environment variable is not set", id)
			}
		} else if at {
			value = rest
		}
		f.values[id] = value
	}
	return nil
}

// answerTo returns the flags' answer to a question for a value. ask reports that a person has to answer.
func (f *inputFlags) answerTo(promptID string, q *mcphubv1.ConfigInput,
	terminal bool) (answer *mcphubv1.PromptAnswer, note string, ask bool) {
	value, given := f.values[q.GetInputId()]
	right := len(q.GetOptions()) == 0 ||
		slices.ContainsFunc(q.GetOptions(), func(o *mcphubv1.ConfigInputOption) bool { return o.GetValue() == value })
	switch {
	case given && right:
		return give(promptID, value), "given by --input " + escape(q.GetInputId()), false
	case given:
		const none = "the value of --input is none of the options"
		return decline(promptID, none), "declined: " + none, false
	case terminal:
		return nil, "", true
	}
	const none = "no --input gives it"
	return decline(promptID, none), "declined: " + none, false
}
