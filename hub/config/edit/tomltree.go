package edit

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
)

// tomlTree is a text of TOML that is changed by lines. Only what is below entry is: a server with a table of its own.
// Places are those before all changes.
type tomlTree struct {
	src   []byte
	nl    string
	entry []string // the path of the server
	exprs []config.Expression
	added bool   // the server is not in the text yet
	after object // the whole file as it is to be
	cuts  []cut
}

// cut is a part of the text, and what takes its place.
type cut struct {
	from, to int
	text     string
}

// openTOML opens a text that is to become after by changes of the entry at a path.
func openTOML(l config.Layout, entry []string, after object) (*tomlTree, *Refusal) {
	t := &tomlTree{nl: lineEnd(l.Text), src: l.Text, entry: entry, exprs: l.Expressions, after: after}
	_, there := plain(l.Root.Value).(object).get(entry...)
	if t.added = !there; t.added {
		return t, nil
	}
	return t, t.notPlain()
}

// text is the whole with all changes. Where one part is within another one, or overlaps it, it goes as a whole.
func (t *tomlTree) text() []byte {
	var out []byte
	at := 0
	slices.SortStableFunc(t.cuts, func(a, b cut) int { return cmp.Compare(a.from, b.from) })
	for _, c := range t.cuts {
		if c.from > at {
			out = append(out, t.src[at:c.from]...)
		}
		if len(out) > 0 && strings.HasSuffix(c.text, t.nl) && out[len(out)-1] != '\n' {
			out = append(out, t.nl...) // a line behind a last one without an end
		}
		out = append(out, c.text...)
		at = max(at, c.to)
	}
	return append(out, t.src[at:]...)
}

func (t *tomlTree) line(at int) int { return 1 + bytes.Count(t.src[:at], []byte("\n")) }

func (t *tomlTree) splice(from, to int, text string) { t.cuts = append(t.cuts, cut{from, to, text}) }

// notPlain tells why the server has no plain table of its own; nil: it has one.
func (t *tomlTree) notPlain() *Refusal {
	headers := 0
	for _, x := range t.exprs {
		switch {
		case !beginsWith(x.Path, t.entry) && (x.Header || !beginsWith(t.entry, x.Path)):
		case x.Array:
			return refuse(Unsupported, t.line(x.Start), "", "is in an array of tables, which the hub does not change; edit the file by hand")
		case !beginsWith(x.Table, t.entry):
			return refuse(Unsupported, t.line(x.Start), "",
				"is no table of its own but written as a value or with dotted keys, which the hub does not change; edit the file by hand, or write it as [%s]",
				tomlKey(t.entry))
		case x.Header && len(x.Path) == len(t.entry):
			headers++
		}
	}
	if headers != 1 {
		return refuse(Unsupported, 0, "", "has no header [%s] of its own, so the hub does not change it; edit the file by hand",
			tomlKey(t.entry))
	}
	return nil
}

// within puts the whole value in place of the one of a key that has a path within it, an inline table.
func (t *tomlTree) within(path []string) bool {
	for _, x := range t.exprs {
		if x.Header || len(x.Path) >= len(path) || !beginsWith(path, x.Path) {
			continue
		}
		if v, _ := t.after.get(x.Path...); !slices.ContainsFunc(t.cuts, func(c cut) bool { return c.from == x.From }) {
			t.splice(x.From, x.To, tomlValue(v))
		}
		return true
	}
	return false
}

func (t *tomlTree) set(path []string, v any) *Refusal {
	if t.added {
		entry, _ := t.after.get(t.entry...)
		t.append(entry.(object))
		return nil
	}
	if t.within(path) {
		return nil
	}
	for _, x := range t.exprs {
		if !x.Header && slices.Equal(x.Path, path) {
			t.splice(x.From, x.To, tomlValue(v))
			return nil
		}
	}
	if r := t.remove(path); r != nil { // a table, or dotted keys
		return r
	}
	for n := len(path) - 1; n >= len(t.entry); n-- {
		if at, ok := t.endOf(path[:n]); ok {
			t.splice(at, at, tomlKey(path[n:])+" = "+tomlValue(v)+t.nl)
			return nil
		}
	}
	return refuse(Unsupported, 0, "", "is in a form of TOML that the hub does not change; edit the file by hand")
}

// endOf is where a further key of the table with this header belongs: behind its last one.
func (t *tomlTree) endOf(table []string) (at int, ok bool) {
	for _, x := range t.exprs {
		if !x.Array && slices.Equal(x.Table, table) {
			at, ok = x.End, true
		}
	}
	return at, ok
}

// append adds the server as a table at the end.
func (t *tomlTree) append(entry object) {
	var b strings.Builder
	if len(bytes.TrimSpace(t.src)) > 0 {
		b.WriteString(t.nl)
	}
	table := func(path []string, o object) (tables object) {
		b.WriteString("[" + tomlKey(path) + "]" + t.nl)
		for _, m := range o {
			if inner, isTable := m.value.(object); isTable && len(inner) > 0 && len(path) == len(t.entry) {
				tables = append(tables, m)
				continue
			}
			b.WriteString(tomlKey([]string{m.name}) + " = " + tomlValue(m.value) + t.nl)
		}
		return tables
	}
	for _, m := range table(t.entry, entry) {
		b.WriteString(t.nl)
		table(below(t.entry, m.name), m.value.(object))
	}
	t.splice(len(t.src), len(t.src), b.String())
}

func (t *tomlTree) remove(path []string) *Refusal {
	if t.within(path) {
		return nil
	}
	at := 0
	for i, x := range t.exprs {
		if !beginsWith(x.Path, path) {
			continue
		}
		from := x.Start
		switch {
		case x.Header:
			from = t.commentsAbove(i)
		case beginsWith(x.Table, path):
			from = at // the header before it goes, and so do comments in between
		}
		at = x.End
		if next := i + 1; beginsWith(x.Table, path) && (next == len(t.exprs) || t.exprs[next].Header) {
			at = t.blanksFrom(at) // those behind a table that goes
		}
		t.splice(from, at, "")
	}
	return nil
}

// commentsAbove is where the comments begin that stand right above a header: they go with it.
func (t *tomlTree) commentsAbove(i int) int {
	at, least := t.exprs[i].Start, 0
	if i > 0 {
		least = t.exprs[i-1].End
	}
	for at > least {
		line := bytes.LastIndexByte(t.src[:at-1], '\n') + 1
		if line < least || !bytes.HasPrefix(bytes.TrimLeft(t.src[line:at], " \t"), []byte("#")) {
			break
		}
		at = line
	}
	return at
}

// blanksFrom skips empty lines.
func (t *tomlTree) blanksFrom(at int) int {
	for at < len(t.src) {
		next := len(t.src)
		if i := bytes.IndexByte(t.src[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if len(bytes.TrimSpace(t.src[at:next])) > 0 {
			break
		}
		at = next
	}
	return at
}

// withoutNulls leaves out what TOML cannot say.
func withoutNulls(o object) object {
	out := object{}
	for _, m := range o {
		if inner, ok := m.value.(object); ok {
			m.value = withoutNulls(inner)
		}
		if m.value != nil {
			out = append(out, m)
		}
	}
	return out
}

// beginsWith tells whether a path is below, or is, another one.
func beginsWith(path, outer []string) bool {
	return len(path) >= len(outer) && slices.Equal(path[:len(outer)], outer)
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		if parts[i] = p; !bareKey.MatchString(p) {
			parts[i] = quoted(p)
		}
	}
	return strings.Join(parts, ".")
}

// tomlValue writes a value on one line.
func tomlValue(v any) string {
	w := writer{key: func(name string) string { return tomlKey([]string{name}) + " = " }}
	w.write(v, "", true)
	return w.b.String()
}
