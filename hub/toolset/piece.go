package toolset

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// piece is a part of a view's text: a text of this package, a JSON string of the result, or other JSON of the result as
// it came. Only the ends of a long piece are ever decoded.
type piece struct {
	text  string
	token json.RawMessage // including its quotes
	raw   json.RawMessage
}

// inside returns the stored text, and whether it has escapes to decode.
func (p piece) inside() (text []byte, escaped bool) {
	switch {
	case len(p.token) >= 2:
		return p.token[1 : len(p.token)-1], true
	case p.token != nil:
		return nil, false
	case p.raw != nil:
		return p.raw, false
	}
	return []byte(p.text), false
}

// extent is the length of a piece after decoding.
type extent struct {
	bytes, lines int
	from         int // a position in the stored text from which on at least the requested last bytes are
}

// measure scans the piece once. last is how many of the last bytes will be requested.
func (p piece) measure(last int) extent {
	text, escaped := p.inside()
	if !escaped {
		return extent{len(text), bytes.Count(text, []byte{'\n'}), max(len(text)-last-utf8.UTFMax, 0)}
	}
	var e extent
	wanted := len(text) - 6*last - utf8.UTFMax // an escape of six bytes may stand for one
	for i := 0; i < len(text); {
		plain := bytes.IndexByte(text[i:], '\\')
		if plain < 0 {
			plain = len(text) - i
		}
		if wanted > i {
			e.from = min(wanted, i+plain)
		}
		e.bytes += plain
		if i += plain; i == len(text) {
			break
		}
		size, stands := escapeAt(text[i:])
		if stands == '\n' {
			e.lines++
		}
		e.bytes += utf8.RuneLen(stands)
		i += size
	}
	return e
}

// escapeAt returns the length of an escape and its character. Half a surrogate pair becomes U+FFFD.
func escapeAt(text []byte) (size int, stands rune) {
	if len(text) < 2 {
		return len(text), utf8.RuneError
	}
	if at := strings.IndexByte(`"\/bfnrt`, text[1]); at >= 0 {
		return 2, rune("\"\\/\b\f\n\r\t"[at])
	}
	size = min(6, len(text))
	stands = unitAt(text)
	if utf16.IsSurrogate(stands) {
		if len(text) >= 8 && text[6] == '\\' && text[7] == 'u' {
			if pair := utf16.DecodeRune(stands, unitAt(text[6:])); pair != utf8.RuneError {
				return 12, pair
			}
		}
		stands = utf8.RuneError
	}
	return size, stands
}

// unitAt returns the value of the four digits of \uXXXX.
func unitAt(text []byte) (unit rune) {
	if len(text) < 6 {
		return utf8.RuneError
	}
	for _, c := range text[2:6] {
		digit := rune(c - '0')
		if c >= 'A' {
			digit = rune(c|0x20-'a') + 10
		}
		unit = unit<<4 | digit
	}
	return unit
}

// head returns at most the first n bytes of the text, in whole code points. kept is the number of these bytes before
// invalid ones are replaced, and all reports whether this is the whole text.
func (p piece) head(n int) (text string, kept int, all bool) {
	stored, escaped := p.inside()
	if !escaped {
		if len(stored) <= n {
			return strings.ToValidUTF8(string(stored), "\uFFFD"), len(stored), true
		}
		for n > 0 && !utf8.RuneStart(stored[n]) {
			n--
		}
		return strings.ToValidUTF8(string(stored[:n]), "\uFFFD"), n, false
	}
	i, size := 0, 0
	for i < len(stored) {
		length, bytes := 1, 1
		if stored[i] == '\\' {
			var r rune
			length, r = escapeAt(stored[i:])
			bytes = utf8.RuneLen(r)
		} else if stored[i] >= utf8.RuneSelf {
			_, length = utf8.DecodeRune(stored[i:])
			bytes = length
		}
		if size+bytes > n {
			break
		}
		i, size = i+length, size+bytes
	}
	return decode(stored[:i]), size, i == len(stored)
}

// tail returns at most the last n bytes of the text. They begin at from or after it.
func (p piece) tail(n, from int) (text string, kept int) {
	stored, escaped := p.inside()
	if text = string(stored[from:]); escaped {
		text = decode(stored[from:])
	}
	start := max(len(text)-n, 0)
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return strings.ToValidUTF8(text[start:], "\uFFFD"), len(text) - start
}

// decode decodes the escapes of a part of a JSON string. The part must not begin or end within an escape.
func decode(stored []byte) string {
	b := make([]byte, 0, len(stored)+2)
	return jsontext.String(append(append(append(b, '"'), stored...), '"'))
}
