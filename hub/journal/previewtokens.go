package journal

import "strings"

// tokens returns the tokens of the beginning of a valid JSON text one by one, without its colons and commas. Of a text
// that is not valid it returns some tokens, and then none.
type tokens struct {
	text string
	at   int
}

// rest returns the text from the next token on.
func (t *tokens) rest() string {
	for t.at < len(t.text) && strings.IndexByte(" \t\r\n:,", t.text[t.at]) >= 0 {
		t.at++
	}
	return t.text[t.at:]
}

// more reports whether the present object or array has another member or element.
func (t *tokens) more() bool {
	rest := t.rest()
	return rest != "" && rest[0] != '}' && rest[0] != ']'
}

// next returns a token as it is written. ok is false at the end. If the text ends within a token, next returns false,
// too, and rest returns that token.
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
	default: // a number or a word, which is complete only if something follows
		if n = strings.IndexAny(rest, " \t\r\n:,{}[]\""); n < 0 {
			return "", false
		}
	}
	t.at += n
	return rest[:n], true
}
