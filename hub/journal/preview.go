package journal

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/redact"
)

const (
	// headBytes is how many bytes of the arguments are read. The line has room for less.
	headBytes = 8 << 10
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
	head := arguments[:min(len(arguments), headBytes)]
	w := &line{redactor: r, tokens: tokens{text: head}, room: bounds.PreviewRunes - 1}
	if begin, _ := w.tokens.next(); begin != "{" {
		return ""
	}
	w.out.Grow(min(len(head), bounds.PreviewRunes))
	w.members(1)
	return w.out.String()
}

// PreviewMembers is PreviewArguments for members that are texts. It shows them in the order of their names.
func PreviewMembers(members map[string]string, r *redact.Redactor) string {
	w := &line{redactor: r, room: bounds.PreviewRunes - 1}
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if !w.name(name, i) {
			break
		}
		if secretName(name) {
			w.put(redacted)
		} else {
			w.text(members[name])
		}
	}
	return w.out.String()
}

// line is the line that is being written. The methods that write return false when there is no more room, or nothing
// more to read.
type line struct {
	redactor *redact.Redactor
	tokens   tokens
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

// members writes the rest of an object. It writes the closing bracket unless the object is the outermost one.
func (w *line) members(depth int) bool {
	for i := 0; w.tokens.more(); i++ {
		token, ok := w.tokens.next()
		if !ok || token[0] != '"' { // cut, or no JSON
			return w.put(more) && false
		}
		name := unquoted(token)
		if !w.name(name, i) {
			return false
		}
		if secretName(name) {
			if !w.put(redacted) || !w.skip() {
				return false
			}
		} else if !w.value(depth) {
			return false
		}
	}
	return w.end(depth, "}")
}

func (w *line) elements(depth int) bool {
	for i := 0; w.tokens.more(); i++ {
		if i > 0 && !w.put(", ") || !w.value(depth) {
			return false
		}
	}
	return w.end(depth, "]")
}

// end reads the closing bracket, which is missing if the head was cut before it.
func (w *line) end(depth int, bracket string) bool {
	if _, ok := w.tokens.next(); !ok {
		return w.put(more) && false
	}
	return depth == 1 || w.put(bracket)
}

func (w *line) name(name string, place int) bool {
	if place > 0 && !w.put(", ") {
		return false
	}
	return w.put(shortened(bounds.Escape(w.clean(name)), nameRunes)) && w.put(": ")
}

func (w *line) value(depth int) bool {
	token, ok := w.tokens.next()
	if !ok {
		return w.cutText() && false
	}
	switch token[0] {
	case '{', '[':
		switch {
		case depth >= maxDepth && token == "{":
			return w.put("{"+more+"}") && w.skipOpen(1)
		case depth >= maxDepth:
			return w.put("["+more+"]") && w.skipOpen(1)
		case token == "{":
			return w.put(token) && w.members(depth+1)
		default:
			return w.put(token) && w.elements(depth+1)
		}
	case '"':
		return w.text(unquoted(token))
	}
	return w.put(shortened(bounds.Escape(w.clean(token)), textRunes)) // a number, true, false or null
}

func (w *line) text(s string) bool {
	return w.put(`"`) && w.put(shortened(bounds.Escape(w.clean(s)), textRunes)) && w.put(`"`)
}

// unquoted returns the value of a token that is a string. Most have no escape, and are not copied.
func unquoted(token string) string {
	if strings.IndexByte(token, '\\') < 0 && utf8.ValidString(token) {
		return token[1 : len(token)-1]
	}
	return jsontext.String([]byte(token))
}

// cutText writes the beginning of a text that the end of the head has cut.
func (w *line) cutText() bool {
	rest := w.tokens.rest()
	if !strings.HasPrefix(rest, `"`) {
		return w.put(more)
	}
	// The end of rest may be half of an escape or of a code point.
	for n := len(rest); n > 0 && len(rest)-n <= len(`\ud83d\ude00`); n-- {
		if whole := []byte(rest[:n] + `"`); jsontext.Valid(whole) {
			return w.text(jsontext.String(whole) + more)
		}
	}
	return w.put(more)
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

// skip reads one value without writing it.
func (w *line) skip() bool {
	token, ok := w.tokens.next()
	if !ok {
		return w.put(more) && false
	}
	return token != "{" && token != "[" || w.skipOpen(1)
}

// skipOpen reads to the end of the given number of open objects and arrays.
func (w *line) skipOpen(open int) bool {
	for open > 0 {
		token, ok := w.tokens.next()
		if !ok {
			return w.put(more) && false
		}
		switch token {
		case "{", "[":
			open++
		case "}", "]":
			open--
		}
	}
	return true
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
