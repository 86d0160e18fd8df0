package config

import (
	"fmt"
	"strings"
)

// Entries of one name in files of several scopes are distinguished by addresses, NAME@SCOPE. A name in a config takes
// precedence over an address: see refuseAddresses.

// Holder returns the scope of the entry in one of three words: "user", "host" or "workspace".
func (o Origin) Holder() string {
	if o.OfWorkspace() {
		return "workspace"
	}
	return o.Scope
}

// Address returns the address of the entry of a scope (Origin.Holder). It does not depend on the other entries of the
// name.
func Address(name, scope string) string { return name + "@" + scope }

// SplitAddress splits an address. ok is false if the text is not an address.
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

// refuseAddresses removes the entries of a workspace that have the address of a user's or a host's entry as their name:
// a call that is meant for that entry must not reach the workspace's.
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
		case refused: // the problem names the file only: the server of this name is another one
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
