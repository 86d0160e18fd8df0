package edit

import (
	"bytes"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// expression is a header or a key with its value, as it stands in a TOML text.
type expression struct {
	header, array bool     // [a.b], [[a.b]]
	path          []string // from the root, the header that it is below included
	table         []string // the header that it is below
	start, end    int      // of its lines, the last end of line included
	from, to      int      // of the value of a key
}

// expressions reads a text that is known to be TOML.
func expressions(text []byte) ([]expression, bool) {
	text = slices.Clip(text) // the parser tells places by capacities
	var p unstable.Parser
	p.Reset(text)
	var out []expression
	var table []string
	inArray := false
	for p.NextExpression() {
		e := p.Expression()
		var keys []string
		first, last := -1, 0
		for it := e.Key(); it.Next(); {
			k := it.Node()
			keys = append(keys, string(k.Data))
			if first < 0 {
				first = int(k.Raw.Offset)
			}
			last = int(k.Raw.Offset + k.Raw.Length)
		}
		x := expression{start: bytes.LastIndexByte(text[:max(first, 0)], '\n') + 1}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			x.header, x.array = true, e.Kind == unstable.ArrayTable
			table, inArray = keys, x.array
			x.path, x.table, x.end = keys, keys, lineFrom(text, last)
		case unstable.KeyValue:
			x.table, x.array = table, inArray
			x.path = slices.Concat(table, keys)
			x.from = skipBlanks(text, last)
			if x.from < len(text) && text[x.from] == '=' {
				x.from = skipBlanks(text, x.from+1)
			}
			x.to = valueEnd(text, x.from)
			x.end = lineFrom(text, x.to)
		default:
			continue
		}
		out = append(out, x)
	}
	return out, p.Error() == nil
}

func skipBlanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// lineFrom is where the line after the one of an offset begins.
func lineFrom(text []byte, at int) int {
	if i := bytes.IndexByte(text[min(at, len(text)):], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// valueEnd is where the value that begins at an offset ends.
func valueEnd(text []byte, at int) int {
	level := 0
	for at < len(text) {
		switch c := text[at]; {
		case c == '"' || c == '\'':
			at = stringEnd(text, at)
			if level == 0 {
				return at
			}
			continue
		case c == '[' || c == '{':
			level++
		case c == ']' || c == '}':
			if level--; level == 0 {
				return at + 1
			}
		case c == '#' && level > 0:
			at = lineFrom(text, at)
			continue
		case level == 0 && (c == '\n' || c == '#'):
			return len(bytes.TrimRight(text[:at], " \t\r"))
		}
		at++
	}
	return len(bytes.TrimRight(text, " \t\r\n"))
}

// stringEnd is where a string of any of the four kinds ends.
func stringEnd(text []byte, at int) int {
	quote := text[at : at+1]
	if triple := bytes.Repeat(quote, 3); bytes.HasPrefix(text[at:], triple) {
		for i := at + 3; i < len(text); i++ {
			if text[i] == '\\' && quote[0] == '"' {
				i++
			} else if bytes.HasPrefix(text[i:], triple) {
				for i += 3; i < len(text) && text[i] == quote[0]; i++ { // up to two more belong to the string
				}
				return i
			}
		}
		return len(text)
	}
	for i := at + 1; i < len(text); i++ {
		if text[i] == '\\' && quote[0] == '"' {
			i++
		} else if text[i] == quote[0] {
			return i + 1
		}
	}
	return len(text)
}

// beginsWith tells whether a path is below, or is, another one.
func beginsWith(path, outer []string) bool {
	return len(path) >= len(outer) && slices.Equal(path[:len(outer)], outer)
}
