package preview

import "strings"

// tokens gives the tokens of the beginning of a valid JSON text, without its colons and commas. A text that is not
// valid gives some tokens, and then none.
type tokens struct {
	text string
	at   int
}

// rest is what has not been given, from the next token on.
func (t *tokens) rest() string {
	for t.at < len(t.text) && strings.IndexByte(" \t\r\n:,", t.text[t.at]) >= 0 {
		t.at++
	}
	return t.text[t.at:]
}

// more tells whether the object or the array that is being read has another member or element.
func (t *tokens) more() bool {
	rest := t.rest()
	return rest != "" && rest[0] != '}' && rest[0] != ']'
}

// next gives a token as it is written. ok is false at the end, also in the midst of a token: then rest begins with it.
func (t *tokens) next() (token string, ok bool) {
	rest := t.rest()
	if rest == "" {
		return "", false
	}
	n := 1
	switch rest[0] {
	case '{', '}', '[', ']':
	case '"':
		for ; n < len(rest) && rest[n] != '"'; n++ {
			if rest[n] == '\\' {
				n++
			}
		}
		if n++; n > len(rest) {
			return "", false
		}
	default: // a number or a word, which something must end
		if n = strings.IndexAny(rest, " \t\r\n:,{}[]\""); n < 0 {
			return "", false
		}
	}
	t.at += n
	return rest[:n], true
}
