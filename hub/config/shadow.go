package config

import (
	"cmp"
	"fmt"
	"slices"
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
