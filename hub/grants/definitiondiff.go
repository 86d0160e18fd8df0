package grants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Bounds of what a prompt says about a change. The definitions come from a server, which chooses their size.
const (
	maxChanges     = 200
	maxChangeValue = 4 << 10 // bytes of JSON text
	maxChangePath  = 1 << 10 // bytes
	maxDiffed      = 1 << 20 // bytes of a definition that is compared
	maxDiffedDepth = 256
)

// definitionChanges returns the differences between two JSON texts, in the order of the newer text. Within an object,
// removed members come last. It returns nil if the texts cannot be compared, because one of them is not JSON or too
// large.
//
// A path consists of member names, joined by dots, and of indices: "inputSchema.required[2]". A name that is not plain
// is quoted in brackets: `["a.b"]`. If a member or an element was added or removed, or has another type now, the change
// has its whole value; a string is always one value. A value that is too long is replaced by a JSON string with its
// beginning and a mark. If there are too many changes, the last one says how many more there are.
func definitionChanges(before, after string) []event.DefinitionChange {
	a, err := parseValue(before)
	if err != nil {
		return nil
	}
	b, err := parseValue(after)
	if err != nil {
		return nil
	}
	d := differences{limit: maxChanges, valueLimit: maxChangeValue, pathLimit: maxChangePath}
	d.between("", a, b)
	if more := d.found - len(d.list); more > 0 {
		d.list[len(d.list)-1] = event.DefinitionChange{Path: "...", After: quoteJSON(fmt.Sprintf("%d more changes", more+1))}
	}
	return d.list
}

// toolChanges is definitionChanges for a prompt. If there is no difference to show, it returns the change of the
// hashes.
func toolChanges(hash, definition, newHash, newDefinition string) []event.DefinitionChange {
	if definition != "" {
		if list := definitionChanges(definition, newDefinition); len(list) > 0 {
			return list
		}
	}
	return []event.DefinitionChange{{Before: quoteJSON("a definition with the hash " + hash),
		After: quoteJSON("a definition with the hash " + newHash)}}
}

type differences struct {
	limit, valueLimit, pathLimit int

	list  []event.DefinitionChange
	found int
}

func (d *differences) between(path string, a, b *jsonValue) {
	switch {
	case a == nil || b == nil || a.kind != b.kind || a.kind == 0 && a.text != b.text:
		d.add(path, a, b)
	case a.kind == '{':
		for _, key := range b.keys {
			d.between(member(path, key), a.members[key], b.members[key])
		}
		for _, key := range a.keys {
			if b.members[key] == nil {
				d.add(member(path, key), a.members[key], nil)
			}
		}
	case a.kind == '[':
		for i := range max(len(a.items), len(b.items)) {
			d.between(path+"["+strconv.Itoa(i)+"]", a.item(i), b.item(i))
		}
	}
}

func (d *differences) add(path string, a, b *jsonValue) {
	d.found++
	if len(d.list) == d.limit {
		return
	}
	if len(path) > d.pathLimit {
		path = cut(path, d.pathLimit) + "..."
	}
	d.list = append(d.list, event.DefinitionChange{Path: path, Before: a.bounded(d.valueLimit),
		After: b.bounded(d.valueLimit)})
}

// member returns the path of the member key of the object at path.
func member(path, key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '$'
	})
	switch {
	case !plain:
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// jsonValue is a JSON value whose members keep their order. If a name occurs twice, the last value counts, as it does
// for the programs that read the definition.
type jsonValue struct {
	kind    json.Delim // '{', '[' or 0
	keys    []string
	members map[string]*jsonValue
	items   []*jsonValue
	text    string // if kind is 0: JSON text; equal strings have equal texts
}

func (v *jsonValue) item(i int) *jsonValue {
	if i < len(v.items) {
		return v.items[i]
	}
	return nil
}

// bounded returns the JSON text of v, or a JSON string with its beginning if it is longer than limit; "" if v is nil.
func (v *jsonValue) bounded(limit int) string {
	if v == nil {
		return ""
	}
	text := string(v.append(nil))
	if len(text) <= limit {
		return text
	}
	kept := text
	if v.kind == 0 && json.Unmarshal([]byte(text), &kept) != nil {
		kept = text // a number of that length
	}
	mark := fmt.Sprintf("... (%d bytes of JSON in all)", len(text))
	for kept = cut(kept, limit); len(quoteJSON(kept+mark)) > limit; { // escapes make the text longer
		kept = cut(kept, len(kept)*3/4)
	}
	return quoteJSON(kept + mark)
}

func (v *jsonValue) append(out []byte) []byte {
	switch v.kind {
	case '{':
		out = append(out, '{')
		for i, key := range v.keys {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, quoteJSON(key)...), ':')
			out = v.members[key].append(out)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i, item := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.append(out)
		}
		return append(out, ']')
	}
	return append(out, v.text...)
}

var errNotDiffed = errors.New("not a JSON value that can be compared")

func parseValue(text string) (*jsonValue, error) {
	if len(text) > maxDiffed {
		return nil, errNotDiffed
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errNotDiffed
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (*jsonValue, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return &jsonValue{text: scalar(token)}, nil
	}
	if depth == maxDiffedDepth {
		return nil, errNotDiffed
	}
	v := &jsonValue{kind: delim, members: map[string]*jsonValue{}}
	for d.More() {
		key := ""
		if delim == '{' {
			token, err := d.Token()
			if err != nil {
				return nil, err
			}
			key, _ = token.(string)
		}
		item, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		if delim == '[' {
			v.items = append(v.items, item)
			continue
		}
		if v.members[key] == nil {
			v.keys = append(v.keys, key)
		}
		v.members[key] = item
	}
	_, err = d.Token() // the closing delimiter
	return v, err
}

func scalar(token json.Token) string {
	switch t := token.(type) {
	case string:
		return quoteJSON(t)
	case json.Number:
		return t.String()
	case bool:
		return strconv.FormatBool(t)
	}
	return "null"
}

// quoteJSON returns s as a JSON string that a person can read.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string marshals
	return strings.TrimSuffix(b.String(), "\n")
}

// cut returns the first limit bytes of s, without an incomplete character at the end.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
