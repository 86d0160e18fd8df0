package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"
)

// parseTOML parses TOML into the same tree of values that parse makes from JSON, so that one reader can be used for
// both. Tables become objects, arrays of tables become arrays; dates and times become strings as they are written.
// Infinities and NaN are refused, since JSON has none.
//
// A key and a simple value have their own place. An object that was made by a header or a dotted key has the place of
// the name that made it first. The problem is fatal for the file.
func parseTOML(file string, data []byte) (*document, *Problem) {
	// The parser computes places from the capacity of slices, so the text must have no spare capacity.
	text := slices.Clip(bytes.Clone(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))))
	doc := newDocument(file, text)
	b := tomlBuilder{doc: doc, text: text, at: map[*hujson.Object]map[string]int{}}
	root := &hujson.Object{}
	if err := b.build(root); err != nil {
		return nil, err
	}
	// The builder sees single expressions. The decoder of the library also knows which of them exclude one another, and
	// which dates and numbers are valid, so what it refuses is refused here.
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		p := doc.tomlProblem(err)
		return nil, &p
	}
	doc.root = value{hujson.Value{Value: root}}
	return doc, nil
}

// Expression is a header, or a key with its value, as it stands in a TOML text.
type Expression struct {
	Header, Array bool     // [a.b], and [[a.b]] or a key below it
	Path          []string // from the root, the header that it is below included
	Table         []string // the header that it is below
	Start, End    int      // of its lines, the last line end included
	From, To      int      // of the value of a key
}

func (d *document) tomlProblem(err error) Problem {
	p := d.problem(0, "", "", "", true)
	if de, ok := errors.AsType[*toml.DecodeError](err); ok {
		if line, column := de.Position(); line >= 1 && line <= len(d.lines) {
			p.Line, p.Column = d.position(min(d.lines[line-1]+max(column, 1)-1, len(d.text)))
		}
	}
	p.Message = notTOML(err.Error())
	return p
}

// notTOML returns the text of an error of the library. It removes the part in which the library quotes an invalid
// number.
func notTOML(message string) string {
	message, _, _ = strings.Cut(message, ": strconv.")
	if strings.Contains(message, "invalid escape") {
		message += `; write \\ for each backslash of a path, or put it between single quotes`
	}
	return "not TOML: " + cut(strings.TrimPrefix(message, "toml: "), 200) // which may have a long name
}

// tomlBuilder makes a tree from what the parser returns, one expression at a time.
type tomlBuilder struct {
	doc    *document
	text   []byte
	parser unstable.Parser
	at     map[*hujson.Object]map[string]int // the index of each name in the members of an object
}

func (b *tomlBuilder) problem(at int, format string, args ...any) *Problem {
	p := b.doc.problem(at, "", "", fmt.Sprintf(format, args...), true)
	return &p
}

func (b *tomlBuilder) build(root *hujson.Object) *Problem {
	b.parser.Reset(b.text)
	table, depth := root, 0 // of the last header
	var x Expression
	for b.parser.NextExpression() {
		e := b.parser.Expression()
		keys := b.keys(e)
		var names []string
		for _, k := range keys {
			names = append(names, k.name)
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			x = Expression{Header: true, Array: e.Kind == unstable.ArrayTable, Path: names, Table: names}
			x.To = keys[len(keys)-1].end
			if depth = len(keys); depth > maxDepth {
				return b.problem(keys[maxDepth].offset, "nested more than %d levels deep", maxDepth)
			}
			if table = b.table(root, keys, e.Kind == unstable.ArrayTable); table == nil {
				return b.problem(keys[0].offset, "not TOML: a name in this header is that of a value or of a table of another kind")
			}
		case unstable.KeyValue:
			x.Header, x.Path, x.From = false, slices.Concat(x.Table, names), b.skip(keys[len(keys)-1].end, " \t=")
			var p *Problem
			if x.To, p = b.keyValue(table, e, depth+1); p != nil {
				return p
			}
		}
		x.Start = bytes.LastIndexByte(b.text[:keys[0].offset], '\n') + 1
		x.End = min(b.doc.endOfLine(x.To)+1, len(b.text))
		b.doc.expressions = append(b.doc.expressions, x)
	}
	err := b.parser.Error()
	if err == nil {
		return nil
	}
	at := len(b.text)
	if pe, ok := errors.AsType[*unstable.ParserError](err); ok {
		at = int(b.parser.Range(pe.Highlight).Offset)
	}
	return b.problem(at, "%s", notTOML(err.Error()))
}

// tomlKey is one part of a dotted key.
type tomlKey struct {
	name        string
	offset, end int
}

func (b *tomlBuilder) keys(n *unstable.Node) []tomlKey {
	var out []tomlKey
	for it := n.Key(); it.Next(); {
		k := it.Node()
		out = append(out, tomlKey{string(k.Data), int(k.Raw.Offset), int(k.Raw.Offset + k.Raw.Length)})
	}
	return out
}

// table returns the object that a header names, and makes what is missing. It returns nil if one of the names is
// already that of something else.
func (b *tomlBuilder) table(root *hujson.Object, keys []tomlKey, array bool) *hujson.Object {
	last := len(keys) - 1
	o := root
	for i, k := range keys {
		if o = b.into(o, k, array && i == last); o == nil {
			return nil
		}
	}
	return o
}

// into returns the object under a name, or the last element of the array of tables under it. If add is set, it appends
// a new element. It returns nil if the name is that of something else.
func (b *tomlBuilder) into(o *hujson.Object, k tomlKey, add bool) *hujson.Object {
	fresh := func() hujson.Value { return hujson.Value{StartOffset: k.offset, Value: &hujson.Object{}} }
	i, ok := b.at[o][k.name]
	if !ok {
		v := fresh()
		if add {
			v = hujson.Value{StartOffset: k.offset, Value: &hujson.Array{}}
		}
		i = b.set(o, k, v)
	}
	switch v := o.Members[i].Value.Value.(type) {
	case *hujson.Object:
		if !add {
			return v
		}
	case *hujson.Array:
		if add {
			v.Elements = append(v.Elements, fresh())
		}
		if len(v.Elements) > 0 {
			inner, _ := v.Elements[len(v.Elements)-1].Value.(*hujson.Object)
			return inner
		}
	}
	return nil
}

// set adds a value under a new name.
func (b *tomlBuilder) set(o *hujson.Object, k tomlKey, v hujson.Value) int {
	names := b.at[o]
	if names == nil {
		names = map[string]int{}
		b.at[o] = names
	}
	names[k.name] = len(o.Members)
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{StartOffset: k.offset,
		Value: hujson.String(k.name)}, Value: v})
	return names[k.name]
}

// keyValue reads "a.b = value" into o, which is depth levels deep, and returns the offset after it.
func (b *tomlBuilder) keyValue(o *hujson.Object, n *unstable.Node, depth int) (end int, p *Problem) {
	keys := b.keys(n)
	last := keys[len(keys)-1]
	if depth += len(keys) - 1; depth > maxDepth {
		return 0, b.problem(keys[0].offset, "nested more than %d levels deep", maxDepth)
	}
	for _, k := range keys[:len(keys)-1] {
		inner := b.into(o, k, false)
		if inner == nil {
			return 0, b.problem(k.offset, "not TOML: this name is that of a value already")
		}
		o = inner
	}
	if _, double := b.at[o][last.name]; double {
		// The decoder would report the place of the whole line.
		return 0, b.problem(last.offset, "not TOML: the key %s is defined already", quote(last.name))
	}
	at := b.skip(last.end, " \t=")
	v, end, p := b.value(n.Value(), at, depth)
	if p == nil {
		b.set(o, last, v)
	}
	return end, p
}

// value converts a value that begins at an offset. The parser gives no place for arrays and no end for tables, so both
// are computed here.
func (b *tomlBuilder) value(n *unstable.Node, at, depth int) (v hujson.Value, end int, p *Problem) {
	if depth > maxDepth {
		return v, 0, b.problem(at, "nested more than %d levels deep", maxDepth)
	}
	v.StartOffset = at
	end = at + int(n.Raw.Length)
	switch n.Kind {
	case unstable.String:
		v.Value = hujson.String(string(n.Data))
	case unstable.Bool:
		v.Value = hujson.Bool(n.Data[0] == 't')
	case unstable.Integer, unstable.Float:
		number, ok := jsonNumber(string(n.Data))
		if !ok {
			return v, 0, b.problem(at, "infinities and NaN cannot be used here")
		}
		v.Value = number
	case unstable.Array:
		array := &hujson.Array{}
		end = at + 1
		for it := n.Children(); it.Next(); {
			var e hujson.Value
			if e, end, p = b.value(it.Node(), b.gap(end), depth+1); p != nil {
				return v, 0, p
			}
			array.Elements = append(array.Elements, e)
		}
		v.Value = array
		end = b.gap(end) + 1
	case unstable.InlineTable:
		o := &hujson.Object{}
		end = at + 1
		for it := n.Children(); it.Next(); {
			if end, p = b.keyValue(o, it.Node(), depth+1); p != nil {
				return v, 0, p
			}
		}
		v.Value = o
		end = b.gap(end) + 1
	default: // dates and times
		v.Value = hujson.String(string(n.Data))
	}
	return v, end, nil
}

// gap skips what may be between the elements of an array or a table: blanks, line ends, commas and comments.
func (b *tomlBuilder) gap(at int) int {
	for at = b.skip(at, " \t\r\n,"); at < len(b.text) && b.text[at] == '#'; at = b.skip(at, " \t\r\n,") {
		for at < len(b.text) && b.text[at] != '\n' {
			at++
		}
	}
	return at
}

func (b *tomlBuilder) skip(at int, any string) int {
	for at < len(b.text) && strings.IndexByte(any, b.text[at]) >= 0 {
		at++
	}
	return at
}

// jsonNumber converts a number of TOML to the notation of JSON: decimal, without underscores and plus sign.
func jsonNumber(s string) (hujson.Literal, bool) {
	s = strings.TrimPrefix(strings.ReplaceAll(s, "_", ""), "+")
	if strings.Contains(s, "inf") || strings.Contains(s, "nan") {
		return nil, false
	}
	if len(s) > 1 && s[0] == '0' && strings.IndexByte("xob", s[1]) >= 0 {
		n, _ := strconv.ParseInt(s, 0, 64) // the decoder refuses numbers that are too large
		return hujson.Int(n), true
	}
	return hujson.Literal(s), true
}
