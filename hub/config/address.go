package config

import (
	"fmt"
	"strings"
)

// The entries of one name in files of several scopes are told apart by addresses, NAME@SCOPE. What a config calls a
// server stays its name: see refuseAddresses.

// Holder says whose the entry is in one of three words: "user", "host" or "workspace".
func (o Origin) Holder() string {
	if o.OfWorkspace() {
		return "workspace"
	}
	return o.Scope
}

// Address is how the entry of one scope (Origin.Holder) is named, whatever other entries of its name there are.
func Address(name, scope string) string { return name + "@" + scope }

// SplitAddress reads an address. false: the text is none.
func SplitAddress(text string) (name, scope string, ok bool) {
	i := strings.LastIndexByte(text, '@')
	if i < 1 {
		return "", "", false
	}
	switch name, scope = text[:i], text[i+1:]; scope {
	case "user", "host", "workspace":
		return name, scope, true
	}
	return "", "", false
}

// refuseAddresses leaves out what a workspace names as an entry of a user or a host is addressed: a call that is meant
// for the one must not reach the other.
func (l *loader) refuseAddresses() {
	there := map[string]bool{}
	for _, e := range l.entries {
		if holder := e.server.Origin.Holder(); holder != "workspace" {
			there[Address(e.server.Name, holder)] = true
		}
	}
	var kept []entry
	for i, e := range l.entries {
		o := e.server.Origin
		switch refused := o.OfWorkspace() && there[e.server.Name]; {
		case refused && kept == nil:
			kept = append([]entry{}, l.entries[:i]...)
			fallthrough
		case refused: // of the file: the server of this name is another one
			l.problems = append(l.problems, placed{e.number, Problem{File: o.File, Line: o.Line, Column: e.column,
				Message: fmt.Sprintf("%s is how the hub addresses a server of another file, so the entry of this name was left "+
					"out; give it another name", quote(e.server.Name))}})
		case kept != nil:
			kept = append(kept, e)
		}
	}
	if kept != nil {
		l.entries = kept
	}
}
