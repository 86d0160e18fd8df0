package main

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// answers are the answers to prompts that the flags give.
type answers struct {
	approve string // allow, deny, hang, or "": ask
	elicit  string // accept, decline, dismiss, hang
	content string // JSON object of an accepted form
	sample  string // decline, hang, or the text of a completion
	signIn  string // print, decline, hang, or "": print on a terminal
	launch  string // ask, allow, deny, or "": ask, on a terminal
	inputs  inputFlags
}

// registerStart defines the flags that answer what a server may need to start.
func (a *answers) registerStart(set *pflag.FlagSet) {
	choiceFlag(set, &a.signIn, "sign-in", "print|decline|hang", "answer a server that wants a sign-in: print the page's "+
		"address and wait; default: print on a terminal, else fail")
	choiceFlag(set, &a.launch, "launch", "ask|allow|deny",
		"answer a workspace file that brings a server; default: ask on a terminal, else fail")
	a.inputs.register(set)
}

func (a *answers) setElicit(v string) error {
	action, content, has := strings.Cut(v, ":")
	switch {
	case action == "accept":
		if !has {
			content = "{}"
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(content), &object) != nil || object == nil {
			return errors.New(`after accept: comes a JSON object, accept:{"name":"Ada"} say`)
		}
	case has, action != "decline" && action != "dismiss" && action != "hang":
		return errors.New("it is accept:JSON, decline, dismiss or hang")
	}
	a.elicit, a.content = action, content
	return nil
}

func (a *answers) check() error {
	if a.elicit == "" {
		a.elicit = "dismiss"
	}
	return a.inputs.check()
}
