package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// URI templates of servers (RFC 6570). The library only checks whether a text is a template. It escapes code points
// where the RFC demands the bytes of UTF-8 (section 3.1), so templates are expanded here. Values are strings only:
// completion/complete has no lists, and neither has a form with one line for each variable.

const (
	maxTemplateVariables = 100
	// maxExpandedBytes bounds a template and the URI that is made of it, as the contract bounds URIs.
	maxExpandedBytes = bounds.URIBytes
)

// variables returns the names of a template's variables, each once, in their order. If the text is no template, problem
// says why.
func variables(template string) (names []string, problem string) {
	parts, err := partsOf(template)
	if err != nil {
		return nil, bounds.Printable(err.Error())
	}
	for _, p := range parts {
		for _, v := range p.variables {
			if !slices.Contains(names, v.name) {
				names = append(names, v.name)
			}
		}
	}
	return names, ""
}

// Expand inserts values into a URI template. A variable without a value is undefined and left out.
func Expand(template string, values map[string]string) (string, error) {
	uri, err := expand(template, values)
	if err != nil {
		return "", event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest, nil,
			"the template makes no URI: %s", bounds.Printable(err.Error()))
	}
	return uri, nil
}

func expand(template string, values map[string]string) (string, error) {
	parts, err := partsOf(template)
	if err != nil {
		return "", err
	}
	for name := range values {
		if !slices.ContainsFunc(parts, func(p templatePart) bool {
			return slices.ContainsFunc(p.variables, func(v templateVariable) bool { return v.name == name })
		}) {
			return "", fmt.Errorf("it has no variable %q", name)
		}
	}
	var b strings.Builder
	for _, p := range parts {
		p.expand(&b, values)
		if b.Len() > maxExpandedBytes {
			return "", fmt.Errorf("the URI would be longer than %s", bounds.Bytes(maxExpandedBytes))
		}
	}
	if b.Len() == 0 {
		return "", errors.New("the URI would be empty")
	}
	return b.String(), nil
}

// templatePart is a literal, or an expression with its operator.
type templatePart struct {
	literal   string
	operator  byte // 0 is none
	variables []templateVariable
}

type templateVariable struct {
	name     string
	prefix   int  // characters of the value that count; 0: all
	exploded bool // each value of a list or map has a part of its own
}

func partsOf(template string) (parts []templatePart, err error) {
	if len(template) > maxExpandedBytes {
		return nil, fmt.Errorf("it is longer than %s", bounds.Bytes(maxExpandedBytes))
	}
	if _, err := uritemplate.New(template); err != nil {
		return nil, err
	}
	count := 0
	for rest := template; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		if literal != "" {
			parts = append(parts, templatePart{literal: literal})
		}
		if !found {
			break
		}
		var expression string
		expression, rest, _ = strings.Cut(after, "}")
		p := templatePart{}
		if strings.IndexByte("+#./;?&", expression[0]) >= 0 {
			p.operator, expression = expression[0], expression[1:]
		}
		for spec := range strings.SplitSeq(expression, ",") {
			name, prefix, _ := strings.Cut(strings.TrimSuffix(spec, "*"), ":")
			v := templateVariable{name: name, exploded: strings.HasSuffix(spec, "*")}
			for _, digit := range []byte(prefix) {
				v.prefix = v.prefix*10 + int(digit-'0')
			}
			p.variables = append(p.variables, v)
		}
		if count += len(p.variables); count > maxTemplateVariables {
			return nil, fmt.Errorf("it has more than %d variables", maxTemplateVariables)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// expand implements section 3.2 of the RFC, with the table of its appendix A.
func (p templatePart) expand(b *strings.Builder, values map[string]string) {
	if p.literal != "" {
		escape(b, p.literal, true)
		return
	}
	first, separator, named := p.form()
	for _, v := range p.variables {
		value, defined := values[v.name]
		if !defined {
			continue
		}
		b.WriteString(first)
		first = separator
		if named {
			b.WriteString(v.name)
			if value != "" || p.operator != ';' {
				b.WriteByte('=')
			}
		}
		escape(b, startOf(value, v.prefix), p.operator == '+' || p.operator == '#')
	}
}

// form returns what stands before the first value of an expression and between two, and whether values are named.
func (p templatePart) form() (first, separator string, named bool) {
	separator = ","
	switch p.operator {
	case '#', '.', '/', ';', '?', '&':
		first = string(p.operator)
	}
	switch p.operator {
	case '.', '/', ';':
		separator = first
	case '?', '&':
		separator = "&"
	}
	return first, separator, p.operator == ';' || p.operator == '?' || p.operator == '&'
}

// startOf returns the first n characters of a text, all of it for 0.
func startOf(text string, n int) string {
	if n == 0 {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	reserved   = ":/?#[]@!$&'()*+,;="
)

// escape writes text with every byte that is not unreserved as %XX. With allowReserved, reserved characters and
// existing escapes stay as they are.
func escape(b *strings.Builder, text string, allowReserved bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c < utf8.RuneSelf && strings.IndexByte(unreserved, c) >= 0,
			allowReserved && strings.IndexByte(reserved, c) >= 0,
			allowReserved && c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			b.WriteByte(c)
		default:
			const digits = "0123456789ABCDEF"
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' || 'a' <= c && c <= 'f'
}

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
