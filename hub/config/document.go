package config

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// document is a parsed file. Offsets in it are in bytes of text.
type document struct {
	file  string
	text  []byte
	lines []int // the offset at which each line begins
	root  value
	// last is the place that was asked for last: the next one is mostly near. From the beginning of each line, the
	// characters of a file in one line would be counted again for each of its keys.
	last struct{ line, at, column int }

	expressions []Expression // of TOML
}

func newDocument(file string, text []byte) *document {
	d := &document{file: file, text: text, lines: []int{0}}
	for at, c := range text {
		if c == '\n' {
			d.lines = append(d.lines, at+1)
		}
	}
	return d
}

// value is one JSON value with its place.
type value struct{ v hujson.Value }

// member is one key of an object; at is the offset of the key.
type member struct {
	name  string
	at    int
	value value
}

// maxDepth bounds nesting: the parser is recursive, and no configuration needs more.
const maxDepth = 100

// parse parses JSON with comments and trailing commas (the JWCC of hujson). It skips a byte order mark, which some
// editors on Windows write. The problem is fatal for the file.
func parse(file string, data []byte) (*document, *Problem) {
	text := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	// A comment in the last line needs an end of line. Offsets stay the same.
	text = append(bytes.Clone(text), '\n')
	doc := newDocument(file, text)
	if len(bytes.TrimSpace(text)) == 0 {
		p := doc.problem(0, "", "", "the file is empty", true)
		return nil, &p
	}
	if at, _ := nesting(text); at >= 0 {
		p := doc.problem(at, "", "", fmt.Sprintf("nested more than %d levels deep", maxDepth), true)
		return nil, &p
	}
	v, err := hujson.Parse(text)
	if err != nil {
		p := doc.syntaxProblem(err)
		return nil, &p
	}
	doc.root = value{v}
	return doc, nil
}

var hujsonPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)

// syntaxProblem converts an error of hujson, which gives the place of the error only in its message.
func (d *document) syntaxProblem(err error) Problem {
	message := err.Error()
	p := Problem{File: d.file, Line: 1, Column: 1, Fatal: true}
	if m := hujsonPlace.FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		if line >= 1 && line <= len(d.lines) {
			p.Line, p.Column = d.position(min(d.lines[line-1]+column-1, len(d.text)))
		}
	}
	if strings.Contains(message, "unexpected EOF") {
		// The end of the text says little; the place of what is not closed helps more.
		p.Line, p.Column = d.position(len(bytes.TrimRight(d.text, " \t\r\n")))
		if _, open := nesting(d.text); len(open) > 0 {
			last := open[len(open)-1]
			line, _ := d.position(last)
			message = fmt.Sprintf("the file ends, and the %c of line %d is not closed", d.text[last], line)
		} else {
			message = "the file ends too early"
		}
	}
	// hujson's message quotes the literal, which may be a part of a secret.
	if strings.HasPrefix(message, "invalid literal") {
		message = "invalid string, number or word"
		if at := d.lines[p.Line-1]; badEscape.Match(d.text[at:d.endOfLine(at)]) {
			message = `invalid string: a backslash begins an escape; write \\ for each backslash of a path`
		}
	}
	if text := bytes.TrimSpace(d.text); len(text) > 0 && text[0] == '"' {
		message += "; a part of a file needs { before it and } behind it" // people copy such parts from instructions
	}
	p.Message = "not JSON: " + strings.TrimPrefix(message, "hujson: ")
	return p
}

// badEscape matches a backslash that does not begin an escape of JSON (RFC 8259, section 7).
var badEscape = regexp.MustCompile(
	`^(?:[^\\]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*\\(?:[^"\\/bfnrtu]|u(?:[^0-9A-Fa-f]|.{1,3}[^0-9A-Fa-f]))`)

// endOfLine returns the offset at which the line of an offset ends.
func (d *document) endOfLine(at int) int {
	if i := bytes.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(d.text)
}

// position converts an offset to a line and a column in characters, both from 1. An offset within a character, where a
// parser may have stopped, counts as the offset of that character.
func (d *document) position(at int) (line, column int) {
	for at > 0 && at < len(d.text) && !utf8.RuneStart(d.text[at]) {
		at--
	}
	line = d.line(at)
	from := &d.last
	if from.line != line {
		from.line, from.at, from.column = line, d.lines[line-1], 1
	}
	if at >= from.at {
		from.column += utf8.RuneCount(d.text[from.at:at])
	} else {
		from.column -= utf8.RuneCount(d.text[at:from.at])
	}
	from.at = at
	return line, from.column
}

// line returns the line of an offset: the number of those that begin at or before it.
func (d *document) line(at int) int { return sort.SearchInts(d.lines, at+1) }

func (d *document) problem(at int, server, key, message string, fatal bool) Problem {
	line, column := d.position(at)
	return Problem{File: d.file, Line: line, Column: column, Server: server, Key: key, Message: message, Fatal: fatal}
}

// nesting returns the offset at which the nesting exceeds maxDepth, or -1, and the offsets of the brackets that are not
// closed at the end.
func nesting(text []byte) (tooDeep int, open []int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			end := ""
			switch rest := text[i:]; {
			case bytes.HasPrefix(rest, []byte("//")):
				end = "\n"
			case bytes.HasPrefix(rest, []byte("/*")):
				end = "*/"
			default:
				continue
			}
			n := bytes.Index(text[i+2:], []byte(end))
			if n < 0 {
				return -1, open
			}
			i += 2 + n + len(end) - 1
		case '{', '[':
			if open = append(open, i); len(open) > maxDepth {
				return i, open
			}
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		}
	}
	return -1, open
}

func (v value) at() int { return v.v.StartOffset }

// nests reports whether v is an object or an array.
func (v value) nests() bool { kind := v.v.Value.Kind(); return kind == '[' || kind == '{' }

func (v value) isNull() bool { return v.v.Value.Kind() == 'n' }

// kind returns the JSON type of v in words.
func (v value) kind() string {
	switch v.v.Value.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	}
	return "an object"
}

func (v value) object() ([]member, bool) {
	obj, ok := v.v.Value.(*hujson.Object)
	if !ok {
		return nil, false
	}
	members := make([]member, 0, len(obj.Members))
	for _, m := range obj.Members {
		name, _ := m.Name.Value.(hujson.Literal)
		members = append(members, member{name: spoken(name), at: m.Name.StartOffset, value: value{m.Value}})
	}
	return members, true
}

func (v value) array() ([]value, bool) {
	arr, ok := v.v.Value.(*hujson.Array)
	if !ok {
		return nil, false
	}
	values := make([]value, 0, len(arr.Elements))
	for _, e := range arr.Elements {
		values = append(values, value{e})
	}
	return values, true
}

func (v value) str() (string, bool) {
	if lit, ok := v.v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return spoken(lit), true
	}
	return "", false
}

// spoken returns the value of a string literal. Nearly all literals have no escape, and are what is between their
// quotes; the others are decoded as JSON.
func spoken(lit hujson.Literal) string {
	if len(lit) >= 2 && lit[0] == '"' && bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) {
		return string(lit[1 : len(lit)-1])
	}
	return lit.String()
}

func (v value) boolean() (b, ok bool) {
	if lit, ok := v.v.Value.(hujson.Literal); ok && (lit.Kind() == 't' || lit.Kind() == 'f') {
		return lit.Kind() == 't', true
	}
	return false, false
}

// number returns the number as it is written in the file.
func (v value) number() (string, bool) {
	if lit, ok := v.v.Value.(hujson.Literal); ok && lit.Kind() == '0' {
		return string(lit), true
	}
	return "", false
}
