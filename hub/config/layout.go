package config

import "strings"

// Layout is where in a file servers stand, the broken ones too: for who changes the file.
type Layout struct {
	Dialect string   // of the file, "" when its name and source do not tell
	TOML    bool     // the text is TOML; else it is JSON
	Holders []Holder // the objects that hold servers, in the order in which they are read
	Spots   []Spot   // the entries in them
	Servers []Server // the entries that can be used
	// Problems are all that Read would tell of the file. Unreadable is the one that keeps it from being read at all.
	Problems   []Problem
	Unreadable *Problem
}

// Holder is an object that holds servers.
type Holder struct {
	Pointer string // as in Origin
	Dialect string // that its entries are written in
	Line    int    // from 1; 0: it is not there yet
}

// Spot is where an entry stands.
type Spot struct {
	Name   string
	Origin Origin
}

// LayoutOf looks at the text of one source. A text without one holder has the one that its dialect would have, which is
// not there yet, unless the file is one of settings that hold servers in a place of which there are several.
func LayoutOf(src Source) Layout {
	if src.JSON == nil {
		src.JSON = []byte{}
	}
	if src.Scope == "" {
		src.Scope = "workspace"
	}
	out := Layout{Dialect: src.Dialect}
	if out.Dialect == "" {
		out.Dialect = dialectOfFile(src.Path)
	}
	out.TOML = isTOML(src, out.Dialect, src.JSON)
	l := &loader{source: src, layout: &out}
	l.load()
	l.switchOff()
	out.Problems = ordered(l.problems)
	for _, e := range l.entries {
		out.Servers = append(out.Servers, e.server)
	}
	for i, p := range out.Problems {
		if p.Server == "" && p.Fatal {
			out.Unreadable = &out.Problems[i]
			break
		}
	}
	if len(out.Holders) == 0 && wrapped(src.Path) == nil && out.Unreadable == nil {
		dialect := out.Dialect
		if dialect == "" {
			dialect = DialectMcpServers
		}
		out.Holders = []Holder{{Pointer: pointer("", holder(dialect)), Dialect: dialect}}
	}
	return out
}

// Server gives the entry of a name that can be used; nil: there is none.
func (l *Layout) Server(name string) *Server {
	for i := range l.Servers {
		if l.Servers[i].Name == name {
			return &l.Servers[i]
		}
	}
	return nil
}

// Named gives the places of the entries of a name. ~/.claude.json may have several.
func (l *Layout) Named(name string) (spots []Spot) {
	for _, s := range l.Spots {
		if s.Name == name {
			spots = append(spots, s)
		}
	}
	return spots
}

// Steps are the names on the way that a JSON pointer describes (RFC 6901, section 4).
func Steps(pointer string) []string {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(steps[i], "~1", "/"), "~0", "~")
	}
	return steps
}

// CheckName tells why a server cannot have a name, "" when it can.
func CheckName(name string) string { return badName(name) }
