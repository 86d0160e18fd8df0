package offers

import "strings"

// Template is a URI template of a server, compiled to recognize the URIs that it describes.
type Template struct{ parts []matchPart }

// matchPart is a part with its literal in the two forms that a URI may have: as it stands in the template, and escaped.
type matchPart struct {
	templatePart
	literals []string
}

// CompileTemplate compiles a URI template of a server.
func CompileTemplate(text string) (*Template, error) {
	parts, err := partsOf(text)
	if err != nil {
		return nil, err
	}
	t := &Template{}
	for _, p := range parts {
		m := matchPart{templatePart: p}
		if p.literal != "" {
			m.literals = []string{p.literal}
			var b strings.Builder
			if escape(&b, p.literal, true); b.String() != p.literal {
				m.literals = append(m.literals, b.String())
			}
		}
		t.parts = append(t.parts, m)
	}
	return t, nil
}

// Match reports whether a URI can be an expansion of the template. Its time is linear in the URI for each expression.
// What it costs is taken from work, and it gives up with false when nothing is left of that: servers choose
// templates, clients choose URIs, and the library, which also finds the values of all variables, has no bound.
//
// Lengths of prefixes ({name:3}) are not checked.
func (t *Template) Match(uri string, work *int) bool {
	if len(uri) > maxExpandedBytes {
		return false
	}
	rest, parts := uri, t.parts
	if len(parts) > 0 && parts[0].literals != nil { // for most URIs this decides
		*work -= min(len(parts[0].literal), len(uri)) + 1
		n := parts[0].literalAt(uri)
		if n < 0 {
			return false
		}
		rest, parts = uri[n:], parts[1:]
	}
	reached, next, within := make([]bool, len(rest)+1), make([]bool, len(rest)+1), make([]bool, len(rest)+1)
	reached[0] = true
	for _, p := range parts {
		if *work -= len(rest) + 1; *work < 0 {
			return false
		}
		clear(next)
		if p.literals != nil {
			for i := range reached {
				if reached[i] {
					if *work -= min(len(p.literal), len(rest)-i); *work < 0 {
						return false
					}
					if n := p.literalAt(rest[i:]); n >= 0 {
						next[i+n] = true
					}
				}
			}
		} else {
			clear(within)
			p.reach(rest, reached, next, within, work)
		}
		reached, next = next, reached
	}
	return *work >= 0 && reached[len(rest)]
}

// literalAt returns the length of the literal with which text begins, or -1.
func (p *matchPart) literalAt(text string) int {
	for _, l := range p.literals {
		if strings.HasPrefix(text, l) {
			return len(l)
		}
	}
	return -1
}

// reach marks in next the places of text to which an expansion of the expression leads from those in from. An expansion
// is empty if no variable is defined. within, all false at first, has the places after the beginning of an expansion.
func (p *matchPart) reach(text string, from, next, within []bool, work *int) {
	first, separator, named := p.form()
	exploded := false
	for _, v := range p.variables {
		exploded = exploded || v.exploded
	}
	several := exploded || len(p.variables) > 1
	keyed := named && !exploded // the keys of an exploded map can be any
	copy(next, from)
	for i := range within {
		within[i] = within[i] || from[i] && first == ""
		next[i] = next[i] || within[i]
		if i == len(text) {
			return
		}
		c := text[i]
		if within[i] && (p.allows(c) || c == '=' && exploded) {
			within[i+1] = true
		}
		switch begins := from[i] && first != "" && c == first[0]; {
		case !begins && !(within[i] && several && c == separator[0]):
		case !keyed:
			within[i+1] = true
		default:
			for _, v := range p.variables {
				if *work -= len(v.name); *work < 0 {
					return
				}
				if after, is := strings.CutPrefix(text[i+1:], v.name); is {
					after = strings.TrimPrefix(after, "=")
					within[len(text)-len(after)] = true
				}
			}
		}
	}
}

// allows reports whether a value in an expansion may contain a byte. A comma separates the values of a list.
func (p *matchPart) allows(c byte) bool {
	return strings.IndexByte(unreserved, c) >= 0 || c == '%' || c == ',' ||
		(p.operator == '+' || p.operator == '#') && strings.IndexByte(reserved, c) >= 0
}
