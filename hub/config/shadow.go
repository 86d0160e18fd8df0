package config

import "fmt"

// entry is a usable server, the number of its source, and where in its line its name is.
type entry struct {
	server Server
	number int
	column int
}

// switchedOff is an entry that has nothing but the word that switches a server of another file off.
type switchedOff struct{ name, dialect, folder string }

// switchOff follows them: they are about servers in files of the same application, for the same folder or for all.
func (l *loader) switchOff() {
	for _, off := range l.off {
		for i := range l.entries {
			s := &l.entries[i].server
			if s.Name == off.name && s.Origin.Dialect == off.dialect && (s.Origin.Folder == "" || off.folder == "" || s.Origin.Folder == off.folder) {
				s.Disabled = true
			}
		}
	}
}

// shadow decides, of the entries of each name, which one counts: those of a user step back when there is one of a workspace, and of what
// is left the last one counts. The order of the sources therefore does not decide between user and workspace.
func (l *loader) shadow() {
	inWorkspace, counts := map[string]bool{}, map[string]int{}
	for _, e := range l.entries {
		inWorkspace[e.server.Name] = inWorkspace[e.server.Name] || e.server.Origin.Scope == "workspace"
	}
	for i, e := range l.entries {
		if !inWorkspace[e.server.Name] || e.server.Origin.Scope != "user" {
			counts[e.server.Name] = i
		}
	}
	for i := range l.entries {
		e := &l.entries[i]
		winner := &l.entries[counts[e.server.Name]]
		if winner == e {
			continue
		}
		from, to := e.server.Origin, winner.server.Origin
		e.server.ShadowedBy = &to
		winner.server.Shadows = append(winner.server.Shadows, from)
		l.problems = append(l.problems, placed{e.number, Problem{
			File: from.File, Line: from.Line, Column: e.column, Server: e.server.Name,
			Message: fmt.Sprintf("this entry (%s) is replaced by the one at %s (%s)", place(from), place(to), to.Scope),
		}})
	}
}

func place(o Origin) string {
	if o.File == "" {
		return fmt.Sprintf("line %d", o.Line)
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}
