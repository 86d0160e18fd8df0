package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	// minEncoded is the length in bytes from which on a secret is also looked for in other encodings, in other cases and
	// in halves. The encodings of a shorter secret would be short, too, and would be found in texts that have nothing to
	// do with the secret: for 5 bytes, only 4 characters of base64 are certain.
	minEncoded = 8
	// maxEncoded bounds the secrets that are looked for in other encodings, since each form takes as much memory as the
	// secret.
	maxEncoded = 16 << 10
)

// formsOf returns the forms in which a secret may occur: as it is, quoted, within JSON as several languages write it,
// within a URL, by its lines, in hexadecimal and in base64. No form is shorter than minSecretBytes.
func formsOf(value string) (forms []string) {
	query := url.QueryEscape(value)
	forms = []string{value, query, url.PathEscape(value), asScript.Replace(query), escaped(value), bounds.Escape(value)}
	for _, quoted := range []string{strconv.Quote(value), strconv.QuoteToASCII(value)} {
		forms = append(forms, quoted[1:len(quoted)-1], strings.ReplaceAll(quoted[1:len(quoted)-1], "/", `\/`))
	}
	if text, err := json.Marshal(value); err == nil {
		forms = append(forms, string(text[1:len(text)-1]))
	}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= minSecretLine && !strings.HasPrefix(line, "-----") {
				forms = append(forms, line)
			}
		}
	}
	if len(value) < minEncoded || len(value) > maxEncoded {
		return forms
	}
	digits := hex.EncodeToString([]byte(value))
	forms = append(forms, strings.ToLower(value), strings.ToUpper(value), digits, strings.ToUpper(digits),
		percentDigits(query, strings.ToLower),
		percentAll(digits), percentAll(strings.ToUpper(digits)))
	for before := range 3 {
		forms = append(forms, inBase64(base64.RawStdEncoding, value, before), inBase64(base64.RawURLEncoding, value, before))
	}
	return forms
}

// asScript converts a result of url.QueryEscape to that of JavaScript's encodeURIComponent, which most servers use.
var asScript = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// percentDigits applies change to each percent-encoded byte.
func percentDigits(s string, change func(string) string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+3 <= len(s) {
			b.WriteString(change(s[i : i+3]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// percentAll returns the form in which every byte is percent-encoded. digits are the bytes in hexadecimal.
func percentAll(digits string) string {
	var b strings.Builder
	for i := 0; i < len(digits); i += 2 {
		b.WriteString("%" + digits[i:i+2])
	}
	return b.String()
}

// inBase64 returns the characters that a secret certainly has within a longer text in base64. Three bytes become four
// characters, so the characters depend on the number of bytes before the secret, modulo three. The characters that the
// secret shares with its neighbours are left out; each of them reveals less than six bits.
func inBase64(e *base64.Encoding, secret string, before int) string {
	text := e.EncodeToString(append(make([]byte, before), secret...))
	return text[(before*8+5)/6 : (before+len(secret))*8/6]
}

// escaped returns s as a JSON encoder writes it that escapes every character that is not printable by its number.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
