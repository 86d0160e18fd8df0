package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Load reads all sources. It never fails as a whole: what cannot be used is told
// in problems, and the rest is returned. The order is that of the sources, and
// within one that of the file. Of two servers of one name the later one counts,
// at its own place. A broken entry does not replace an earlier good one.
//
// Load has no state; it may be called concurrently.
func Load(sources []Source) (servers []Server, problems []Problem) {
	all := loader{byName: map[string]int{}}
	for i, src := range sources {
		if src.Scope == "" {
			src.Scope = "host"
		}
		all.source = i
		all.load(src)
	}
	for _, e := range all.entries {
		if !e.replaced {
			servers = append(servers, e.server)
		}
	}
	return servers, ordered(all.problems)
}

// loader gathers what the sources say.
type loader struct {
	source   int    // the number of the source that is being read
	folder   string // of that source, for relative paths; "" when it is no file
	entries  []entry
	byName   map[string]int // the entry that counts, by the server's name
	problems []placed
}

// entry is a usable server and the place of its name.
type entry struct {
	server   Server
	source   int
	column   int
	replaced bool
}

func (l *loader) report(p Problem) { l.problems = append(l.problems, placed{l.source, p}) }

func (l *loader) load(src Source) {
	data := src.JSON
	l.folder = ""
	if data == nil || filepath.IsAbs(src.Path) {
		l.folder = filepath.Dir(src.Path)
	}
	if data == nil {
		var err error
		if data, err = os.ReadFile(src.Path); err != nil {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			l.report(Problem{File: src.Path, Message: "cannot be read: " + err.Error(), Fatal: true})
			return
		}
	}
	doc, problem := parse(src.Path, data)
	if problem != nil {
		l.report(*problem)
		return
	}
	root, ok := doc.root.object()
	if !ok {
		l.report(doc.problem(doc.root.at(), "", "", `the file must hold a JSON object with "mcpServers" or "servers"`, true))
		return
	}
	l.file(doc, root, src)
}

// dialectOf maps the top-level key that holds the servers to the dialect's name.
var dialectOf = map[string]string{"mcpServers": "mcpServers", "servers": "vscode"}

func (l *loader) file(doc *document, root []member, src Source) {
	members := l.distinct(doc, root, "", "")
	var last string
	seen := 0
	for _, m := range members {
		if dialectOf[m.name] != "" {
			seen++
			last = m.name
		}
	}
	if seen == 0 {
		l.report(doc.problem(doc.root.at(), "", "", `no servers: the file has neither "mcpServers" nor "servers"`, false))
		return
	}
	for _, m := range members {
		dialect := dialectOf[m.name]
		switch {
		case dialect != "":
			if seen == 2 && m.name == last {
				l.report(doc.problem(m.at, "", m.name, `the file has both "mcpServers" and "servers"; both are read`, false))
			}
			if m.value.isNull() {
				continue
			}
			servers, ok := m.value.object()
			if !ok {
				l.report(doc.problem(m.value.at(), "", m.name, "must be an object of servers, is "+m.value.kind(), true))
				continue
			}
			for _, s := range l.distinct(doc, servers, "", m.name) {
				l.server(doc, s, Origin{File: src.Path, Line: doc.line(s.at), Dialect: dialect, Scope: src.Scope})
			}
		case m.name == "inputs":
			l.report(doc.problem(m.at, "", m.name, "is not supported yet and was ignored", false))
		}
		// Other top-level keys belong to the application whose file this is.
	}
}

// distinct returns the members with the last of each name, as JSON readers
// do, and reports the names that come more than once.
func (l *loader) distinct(doc *document, members []member, server, key string) []member {
	lastAt := make(map[string]int, len(members))
	for i, m := range members {
		lastAt[m.name] = i
	}
	var out []member
	for i, m := range members {
		if last := lastAt[m.name]; last != i {
			l.report(doc.problem(m.at, server, path(key, m.name),
				fmt.Sprintf("comes again in line %d; this one is ignored", doc.line(members[last].at)), false))
			continue
		}
		out = append(out, m)
	}
	return out
}

func path(outer, inner string) string {
	if outer == "" {
		return inner
	}
	return outer + "." + inner
}

// server reads one entry and keeps it when it is usable.
func (l *loader) server(doc *document, m member, origin Origin) {
	if why := badName(m.name); why != "" {
		l.report(doc.problem(m.at, quoteName(m.name), "", why, true))
		return
	}
	r := entryReader{loader: l, doc: doc, server: m.name}
	s := r.read(m)
	if r.broken {
		return
	}
	s.Name, s.Origin = m.name, origin
	_, column := doc.position(m.at)
	if i, ok := l.byName[s.Name]; ok {
		e := &l.entries[i]
		e.replaced = true
		o := e.server.Origin
		l.problems = append(l.problems, placed{e.source, Problem{
			File: o.File, Line: o.Line, Column: e.column, Server: s.Name,
			Message: fmt.Sprintf("this entry (%s) is replaced by the one at %s (%s)", place(o), place(origin), origin.Scope),
		}})
	}
	l.byName[s.Name] = len(l.entries)
	l.entries = append(l.entries, entry{server: s, source: l.source, column: column})
}

func place(o Origin) string {
	if o.File == "" {
		return fmt.Sprintf("line %d", o.Line)
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

const maxName = 128 // runes

func badName(name string) string {
	switch {
	case name == "":
		return "the name of a server must not be empty"
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Sprintf("the name of a server has at most %d characters", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "the name of a server must not hold control characters"
	}
	return ""
}

// quoteName bounds a name that was found to be bad; Problem.String quotes it.
func quoteName(name string) string {
	if r := []rune(name); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return name
}
