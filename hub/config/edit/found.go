package edit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Found is an entry as a text has it.
type Found struct {
	Name    string // "": it stands in the text without one
	Line    int    // from 1
	Dialect string
	// Server is what it says; nil: it cannot be used, as Problems say.
	Server *config.Server
	JSON   string // the entry alone
	// EnvReference is as in Place.
	EnvReference string
	Problems     []config.Problem
}

// nameless stands in for the name of an entry that has none.
const nameless = "server"

// maxFound bounds the entries of one text.
const maxFound = 1000

// Read tells what servers are in a text, and what is wrong with it as a whole: JSON or TOML, a file, a part of one, or
// a single entry, in a dialect that is found out if it is "". Lines are those of the text.
func Read(text, dialect string) ([]Found, []config.Problem) {
	if len(text) > maxValueBytes || !utf8.ValidString(text) {
		const why = "the text is too long, or no text; paste the part with the servers"
		return nil, []config.Problem{{Message: why, Fatal: true}}
	}
	src := config.Source{JSON: []byte(text), Dialect: dialect, Scope: "host"}
	trimmed := strings.TrimSpace(strings.TrimPrefix(text, string(byteOrderMark)))
	if dialect == "" && strings.HasPrefix(trimmed, "[") && !strings.HasSuffix(trimmed, "]") ||
		strings.Contains(text, "[mcp_servers.") {
		src.Dialect = config.DialectCodex
	}
	if layout := config.LayoutOf(src); layout.TOML {
		return all(layout, false)
	}
	if strings.HasPrefix(trimmed, `"`) { // a part of a file, without its braces
		src.JSON = []byte("{" + strings.TrimSuffix(strings.TrimRight(text, " \t\r\n"), ",") + "}")
	}
	o, err := parseValue(string(src.JSON))
	if err != nil {
		if p := config.LayoutOf(src).Unreadable; p != nil {
			return nil, []config.Problem{*p}
		}
		return nil, []config.Problem{{Message: "the text " + err.Error(), Fatal: true}}
	}
	if isEntry(o) {
		return within(src, object{{nameless, o}}, true)
	}
	layout := config.LayoutOf(src)
	if len(layout.Spots) == 0 && len(o) > 0 && allObjects(o) {
		return within(src, o, false)
	}
	return all(layout, false)
}

// isEntry tells whether an object is an entry, and not one of entries.
func isEntry(o object) bool {
	for _, key := range launchKeys {
		v, ok := o.get(key)
		if !ok {
			continue
		}
		inner, isObject := v.(object)
		if _, wraps := inner.get("command"); !isObject || wraps && key == "transport" {
			return true
		}
	}
	return false
}

func allObjects(o object) bool {
	for _, m := range o {
		if _, ok := m.value.(object); !ok {
			return false
		}
	}
	return true
}

// dialectOf returns the dialect of entries under names, by their keys.
func dialectOf(entries object) string {
	found := config.DialectMcpServers
	for _, holder := range []string{"mcpServers", "mcp"} {
		text := jsonText(object{{holder, entries}}, "", "", "", true)
		layout := config.LayoutOf(config.Source{JSON: []byte(text), Scope: "host"})
		if len(layout.Spots) == 0 {
			continue
		}
		// What is Crush's below "mcp" is anybody's by itself.
		if d := layout.Spots[0].Origin.Dialect; holder == "mcpServers" || d == config.DialectOpencode {
			found = d
		}
	}
	return found
}

// within reads a text that is an entry, or entries by their names, as if it stood in a file of its dialect.
func within(src config.Source, entries object, single bool) ([]Found, []config.Problem) {
	src.Dialect = cmp.Or(src.Dialect, dialectOf(entries))
	empty := config.LayoutOf(config.Source{Dialect: src.Dialect, Scope: "host", JSON: []byte("{}")})
	steps := []string{"mcpServers"}
	if len(empty.Holders) > 0 {
		steps = config.Steps(empty.Holders[0].Pointer)
	}
	if single {
		steps = append(steps, nameless)
	}
	before := ""
	for _, step := range steps {
		before += "{" + jsonText(step, "", "", "", true) + ": "
	}
	src.JSON = slices.Concat([]byte(before), src.JSON, []byte("\n"+strings.Repeat("}", len(steps))))
	return all(config.LayoutOf(src), single)
}

// all gives what a layout has.
func all(layout config.Layout, single bool) (found []Found, problems []config.Problem) {
	if layout.Unreadable != nil {
		return nil, []config.Problem{*layout.Unreadable}
	}
	in := finder(layout)
	for _, spot := range layout.Spots[:min(len(layout.Spots), maxFound)] {
		f := in.at(spot)
		if single {
			f.Name = ""
			if o, err := parseValue(f.JSON); err == nil { // of a command of VS Code: {"name": "...", ...}
				name, _ := o.get("name")
				f.Name, _ = name.(string)
				f.JSON = jsonText(o.without("name"), "", "  ", "\n", false)
			}
		}
		found = append(found, f)
	}
	for _, p := range layout.Problems {
		if p.Server == "" {
			problems = append(problems, p)
		}
	}
	if len(found) == 0 && len(problems) == 0 {
		problems = []config.Problem{{Message: "the text has no server in it", Fatal: true}}
	}
	return found, problems
}

// finding is one text that is looked through: it is parsed once, however many entries it has.
type finding struct {
	root     object
	servers  map[string]*config.Server
	problems map[string][]config.Problem
}

func finder(layout config.Layout) *finding {
	in := &finding{servers: map[string]*config.Server{}, problems: map[string][]config.Problem{}}
	in.root, _ = plain(layout.Root.Value).(object)
	for i := range layout.Servers {
		in.servers[layout.Servers[i].Origin.Pointer] = &layout.Servers[i]
	}
	for _, p := range layout.Problems {
		in.problems[p.Server] = append(in.problems[p.Server], p)
	}
	return in
}

// at returns the entry at a spot.
func (in *finding) at(spot config.Spot) Found {
	f := Found{Name: spot.Name, Line: spot.Origin.Line, Dialect: spot.Origin.Dialect,
		EnvReference: references[spot.Origin.Dialect].spelled, Server: in.servers[spot.Origin.Pointer],
		Problems: in.problems[spot.Name]}
	if v, ok := in.root.get(config.Steps(spot.Origin.Pointer)...); ok && doubled(v) == "" {
		f.JSON = jsonText(v, "", "  ", "\n", false)
	}
	return f
}

// EntryOf gives the entry of a name in a file. It is a *Refusal that keeps it from that.
func EntryOf(src config.Source, name string) (Found, error) {
	e, r := openEntry(src, name)
	if r != nil {
		return Found{}, r
	}
	return finder(e.layout).at(e.layout.Named(name)[0]), nil
}

// Changed gives the lines of a text that another one has not, and those that stand in their place there: all between
// the first and the last that differ.
func Changed(before, after []byte) (gone, come string) {
	a, b := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return string(bytes.Join(a, nil)), string(bytes.Join(b, nil))
}

// Place is where an entry would be added to a file. It is a *Refusal that keeps it from that.
type Place struct {
	Dialect string
	Names   []string // of the entries that are there
	// EnvReference spells a variable of the environment, with NAME for its name; "": there are none.
	EnvReference string
	TakesInputs  bool
	TakesURLs    bool
}

// PlaceIn looks for it.
func PlaceIn(src config.Source) (Place, error) {
	e, r := open(src, nameless)
	if r == nil && len(e.layout.Holders) == 0 {
		r = noPlace
	}
	if r != nil {
		return Place{}, r
	}
	p := Place{Dialect: e.layout.Holders[0].Dialect}
	p.EnvReference = references[p.Dialect].spelled
	p.TakesInputs = p.Dialect == config.DialectVSCode
	p.TakesURLs = p.Dialect != config.DialectDesktop
	for _, s := range e.layout.Spots[:min(len(e.layout.Spots), maxFound)] {
		p.Names = append(p.Names, s.Name)
	}
	return p, nil
}
