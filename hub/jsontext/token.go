package jsontext

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// IsID reports whether b is exactly one string or number, as an id must be.
func IsID(b []byte) bool {
	switch {
	case len(b) == 0:
		return false
	case b[0] == '"':
		end, _ := scanString(b, 1)
		return end == len(b)
	}
	return scanNumber(b, 0) == len(b)
}

// IsString reports whether a token begins like a string. If the token is a value of valid text, it then is a string.
func IsString(token []byte) bool { return len(token) > 0 && token[0] == '"' }

// IsNull reports whether a token is null.
func IsNull(token []byte) bool { return string(token) == "null" }

// String returns the value of a string token, whose quotes are included, or "" for any other token. Bytes that are not
// UTF-8, and halves of surrogate pairs, become U+FFFD.
func String(token []byte) string {
	if len(token) < 2 || token[0] != '"' || token[len(token)-1] != '"' {
		return ""
	}
	inside := token[1 : len(token)-1]
	plain := true
	for _, c := range inside[skipPlain(inside, 0):] {
		if c == '\\' || c == '"' || c < ' ' {
			plain = false
			break
		}
	}
	if plain && utf8.Valid(inside) {
		return string(inside)
	}
	var s string
	if json.Unmarshal(token, &s) != nil {
		return ""
	}
	return s
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanName scans a member name and its colon.
func scanName(b []byte, i int) int {
	if i = skipBlanks(b, i); i == len(b) || b[i] != '"' {
		return -1
	}
	if i, _ = scanString(b, i+1); i < 0 {
		return -1
	}
	if i = skipBlanks(b, i); i == len(b) || b[i] != ':' {
		return -1
	}
	return i + 1
}

// special marks the bytes of v that end the plain part of a string.
func special(v uint64) uint64 {
	const ones = 0x0101010101010101
	quote, slash := v^(ones*'"'), v^(ones*'\\')
	return ((v-ones*0x20)&^v | (quote-ones)&^quote | (slash-ones)&^slash) & (ones * 0x80)
}

// skipPlain skips blocks of 32 bytes that consist of plain bytes only.
func skipPlain(b []byte, i int) int {
	for ; i+32 <= len(b); i += 32 {
		w := b[i : i+32 : i+32]
		if special(binary.LittleEndian.Uint64(w))|special(binary.LittleEndian.Uint64(w[8:]))|
			special(binary.LittleEndian.Uint64(w[16:]))|special(binary.LittleEndian.Uint64(w[24:])) != 0 {
			break
		}
	}
	return i
}

// scanString scans a string whose opening quote is before i. It accepts all bytes from 0x80 on and does not check
// whether they are UTF-8.
func scanString(b []byte, i int) (end int, escaped bool) {
	for {
		// Skip eight bytes at a time to the first quote, backslash or control character. Each of the three tests is exact for
		// the lowest byte that it marks, and only that one is used.
		for n := 1; i+8 <= len(b); n++ {
			if hit := special(binary.LittleEndian.Uint64(b[i : i+8])); hit != 0 {
				i += bits.TrailingZeros64(hit) >> 3
				break
			}
			if i += 8; n&7 == 0 {
				i = skipPlain(b, i) // the string is a long one
			}
		}
		if i >= len(b) {
			return -1, escaped
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = scanEscape(b, i+1); i < 0 {
				return -1, true
			}
		case c < 0x20:
			return -1, escaped
		default:
			i++
		}
	}
}

func scanEscape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+5 > len(b) {
			return -1
		}
		for _, c := range b[i+1 : i+5] {
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

func scanWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func scanNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i == len(b):
		return -1
	case b[i] == '0':
		i++
	default:
		if i = scanDigits(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = scanDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = scanDigits(b, i)
	}
	return i
}

// scanDigits scans one or more digits.
func scanDigits(b []byte, i int) int {
	from := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
