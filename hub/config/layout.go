package config

import (
	"strings"

	"github.com/tailscale/hujson"
)

// Layout says where the servers of a file are, including the broken ones. It is for code that changes the file.
type Layout struct {
	Dialect string   // of the file; "" if its name and source do not determine it
	TOML    bool     // the text is TOML, not JSON
	Holders []Holder // the objects that hold servers, in the order in which they are read
	Spots   []Spot   // the entries in the Holders
	Servers []Server // the entries that can be used
	// Problems are all problems that Read would report for the file. Unreadable is the one that makes the file unusable.
	Problems   []Problem
	Unreadable *Problem

	// Root is the text as a tree, whose offsets are those in Text: the text without a byte order mark, and if it is JSON,
	// with a line end behind it. TOML is a tree of JSON, too; where its parts are written is in Expressions.
	Root        hujson.Value
	Text        []byte
	Expressions []Expression
}

// Holder is an object that holds servers.
type Holder struct {
	Pointer string // as Origin.Pointer
	Dialect string // the dialect of its entries
	Line    int    // from 1; 0 if the object does not exist yet
}

// Spot is the place of an entry.
type Spot struct {
	Name   string
	Origin Origin
}

// LayoutOf returns the layout of the text of one source. If a text has no holder, the layout has the one that its
// dialect would use, with Line 0. The exception is a file of settings in which servers may be in several places.
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

// Server returns the usable entry of a name, or nil if there is none.
func (l *Layout) Server(name string) *Server {
	for i := range l.Servers {
		if l.Servers[i].Name == name {
			return &l.Servers[i]
		}
	}
	return nil
}

// Named returns the places of the entries of a name. ~/.claude.json may have several.
func (l *Layout) Named(name string) (spots []Spot) {
	for _, s := range l.Spots {
		if s.Name == name {
			spots = append(spots, s)
		}
	}
	return spots
}

// Steps returns the names in a JSON pointer (RFC 6901, section 4).
func Steps(pointer string) []string {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(steps[i], "~1", "/"), "~0", "~")
	}
	return steps
}
