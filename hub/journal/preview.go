package journal

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/redact"
)

const (
	// textBytes is how many bytes of one text are searched for secrets: more than the line shows of it.
	textBytes = 512
	textRunes = 80
	nameRunes = 40
	maxDepth  = 4

	more     = "…"
	redacted = "[redacted]"
)

// PreviewArguments returns one line for arguments, which must be the valid JSON text of an object: the members in their
// order, as far as they fit into [bounds.PreviewRunes]. Texts are quoted, escaped and shortened. Secrets that the
// redactor knows are replaced, and so is the value of a member whose name says that it is a secret. A "…" shows that
// something was left out.
func PreviewArguments(arguments string, r *redact.Redactor) string {
	w := &line{redactor: r, room: bounds.PreviewRunes - 1}
	w.members([]byte(arguments), 1)
	return w.out.String()
}

// PreviewMembers is PreviewArguments for members that are texts. It shows them in the order of their names.
func PreviewMembers(members map[string]string, r *redact.Redactor) string {
	w := &line{redactor: r, room: bounds.PreviewRunes - 1}
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if !w.member(name, i, func() bool { return w.text(members[name]) }) {
			break
		}
	}
	return w.out.String()
}

// line is the line that is being written. The methods that write return false when there is no more room.
type line struct {
	redactor *redact.Redactor
	out      strings.Builder
	room     int // in runes, without the mark of the end; negative once that mark was written
}

// put writes s as far as there is room for it.
func (w *line) put(s string) bool {
	if n := utf8.RuneCountInString(s); n <= w.room {
		w.room -= n
		w.out.WriteString(s)
		return true
	}
	if w.room >= 0 {
		w.out.WriteString(firstRunes(s, w.room) + more)
		w.room = -1
	}
	return false
}

// members writes the members of an object.
func (w *line) members(object json.RawMessage, depth int) (room bool) {
	i := 0
	room = true
	whole := jsontext.Members(object, func(name []byte, value json.RawMessage) bool {
		room = w.member(string(name[:min(len(name), 2*textBytes)]), i, func() bool { return w.value(value, depth) })
		i++
		return room
	})
	if !whole && len(object) > 0 { // no JSON
		w.put(more)
	}
	return room && whole
}

// member writes one member, the i-th of its object.
func (w *line) member(name string, i int, value func() bool) bool {
	if i > 0 && !w.put(", ") || !w.put(shortened(bounds.Escape(w.clean(name)), nameRunes)) || !w.put(": ") {
		return false
	}
	if secretName(name) {
		return w.put(redacted)
	}
	return value()
}

func (w *line) elements(array json.RawMessage, depth int) (room bool) {
	i := 0
	room = true
	jsontext.Elements(array, func(value json.RawMessage) bool {
		room = (i == 0 || w.put(", ")) && w.value(value, depth)
		i++
		return room
	})
	return room
}

func (w *line) value(raw json.RawMessage, depth int) bool {
	switch {
	case raw[0] == '"':
		return w.text(unquoted(raw))
	case raw[0] == '{' && depth >= maxDepth:
		return w.put("{" + more + "}")
	case raw[0] == '{':
		return w.put("{") && w.members(raw, depth+1) && w.put("}")
	case raw[0] == '[' && depth >= maxDepth:
		return w.put("[" + more + "]")
	case raw[0] == '[':
		return w.put("[") && w.elements(raw, depth+1) && w.put("]")
	}
	word := string(raw[:min(len(raw), textBytes)]) // or a number
	return w.put(shortened(bounds.Escape(w.clean(word)), textRunes))
}

func (w *line) text(s string) bool {
	return w.put(`"`) && w.put(shortened(bounds.Escape(w.clean(s)), textRunes)) && w.put(`"`)
}

// unquoted returns the value of a JSON string. Of a long one it returns the beginning, which is enough for clean.
func unquoted(token json.RawMessage) string {
	const enough = 6*textBytes + 1 // an escape has up to six bytes
	if len(token) <= enough {
		return jsontext.String(token)
	}
	for n := enough; n > enough-len(`\ud83d\ude00`); n-- { // the end may be half of an escape or of a code point
		if whole := append(token[:n:n], '"'); jsontext.Valid(whole) {
			return jsontext.String(whole) + more
		}
	}
	return more
}

// clean removes the secrets from a text before it is shortened, since half a secret would not be found. The redactor
// recognizes the mark of a cut.
func (w *line) clean(s string) string {
	if len(s) > textBytes {
		end := textBytes
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + more
	}
	return w.redactor.Text(s)
}

// shortened returns s, or, if it has more than n runes, its first runes and the mark of a cut, n runes in all.
func shortened(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return firstRunes(s, n-1) + more
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// secretParts are parts of the names of members whose values must not be seen by people who look at the same screen. A
// word too many only hides a harmless value: the approval and the details of the request show it.
var secretParts = []string{"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey",
	"authorization", "credential", "cookie", "bearer"}

func secretName(name string) bool {
	if len(name) > textBytes {
		return true
	}
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	// a name that ends with "tokens" is probably a count, one that ends with "token" a secret
	return strings.HasSuffix(plain, "token") || plain == "pin" || plain == "otp" ||
		slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(plain, part) })
}
