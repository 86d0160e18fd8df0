package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// entry is a usable server, the number of its source, and the column of its name.
type entry struct {
	server Server
	number int
	column int
}

// switchedOff is an entry that only switches off a server of another file.
type switchedOff struct {
	name, dialect, folder string
	ofWorkspace           bool
	unheard               placed // the problem that is reported if it has no effect
}

// switchOff applies these entries to the servers in files of the same application, for the same folder or for all
// folders. An entry of a workspace switches off only servers of a workspace, because nobody has agreed to more.
func (l *loader) switchOff() {
	for _, off := range l.off {
		for i := range l.entries {
			s := &l.entries[i].server
			if s.Name == off.name && s.Origin.Dialect == off.dialect &&
				(s.Origin.Folder == "" || off.folder == "" || s.Origin.Folder == off.folder) {
				if off.ofWorkspace && !s.Origin.OfWorkspace() {
					l.problems = append(l.problems, off.unheard)
					continue
				}
				s.Disabled = true
			}
		}
	}
}

// shadow decides which entry of each name counts. If there is an entry of a workspace, it precedes those of the user;
// of the rest, the last one counts. So the order of the sources does not decide between user and workspace. An entry of
// a workspace that is switched off comes after the entries of others, because it must not switch these off.
func (l *loader) shadow() {
	byName := map[string][]int{}
	for i, e := range l.entries {
		byName[e.server.Name] = append(byName[e.server.Name], i)
	}
	for _, same := range byName {
		if len(same) == 1 {
			continue
		}
		l.rank(same)
		winner := &l.entries[same[0]].server
		to := winner.Origin
		for _, i := range same[1:] {
			l.entries[i].server.ShadowedBy = &to
			winner.Behind = append(winner.Behind, l.entries[i].server)
		}
	}
	for i := range l.entries {
		e := &l.entries[i]
		if e.server.ShadowedBy == nil {
			continue
		}
		from, to := e.server.Origin, *e.server.ShadowedBy
		winner := &l.entries[byName[e.server.Name][0]].server
		winner.Shadows = append(winner.Shadows, from)
		once := ""
		if to.NeedsConsent() && !from.NeedsConsent() {
			once = " once the user has agreed to that one"
		}
		l.problems = append(l.problems, placed{e.number, Problem{
			File: from.File, Line: from.Line, Column: e.column, Server: e.server.Name,
			Message: fmt.Sprintf("this entry (%s) is replaced by the one at %s (%s)%s", place(from), place(to), to.Scope, once),
		}})
	}
}

// rank sorts the entries of one name; the one that counts is the first.
func (l *loader) rank(same []int) {
	inWorkspace, elsewhere := false, false
	for _, i := range same {
		of := l.entries[i].server.Origin.OfWorkspace()
		inWorkspace, elsewhere = inWorkspace || of, elsewhere || !of
	}
	back := func(i int) int {
		switch s := &l.entries[i].server; {
		case elsewhere && s.Disabled && s.Origin.OfWorkspace():
			return 2
		case inWorkspace && s.Origin.Scope == "user":
			return 1
		}
		return 0
	}
	slices.SortFunc(same, func(a, b int) int { return cmp.Or(cmp.Compare(back(a), back(b)), cmp.Compare(b, a)) })
}

func place(o Origin) string {
	if o.File == "" {
		return fmt.Sprintf("line %d", o.Line)
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

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
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool {
		o := e.server.Origin
		if !o.OfWorkspace() || !there[e.server.Name] {
			return false
		}
		// The problem names the file only: the server of this name is another one.
		l.problems = append(l.problems, placed{e.number, Problem{File: o.File, Line: o.Line, Column: e.column,
			Message: fmt.Sprintf("%s is how the hub addresses a server of another file, so the entry of this name was left "+
				"out; give it another name", quote(e.server.Name))}})
		return true
	})
}
