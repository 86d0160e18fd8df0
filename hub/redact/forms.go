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
	// minEncoded is the length of a secret, in bytes, from which on it is looked for in other encodings and cases and in
	// halves. Of a shorter one these are short, too, and found in texts that have nothing to do with it: base64 of 5 bytes
	// has 4 characters that are sure.
	minEncoded = 8
	// maxEncoded bounds the secrets that are looked for in other encodings: each form takes as much memory as the secret.
	maxEncoded = 16 << 10
)

// formsOf are the forms in which a secret may be met: as it is, quoted, within JSON as several languages write it,
// within a URL, by its lines, in hexadecimal and in base64. None is shorter than minSecretBytes.
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

// asScript makes of what url.QueryEscape gives that of JavaScript's encodeURIComponent, which most servers use.
var asScript = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// percentDigits changes the digits of percent-encoded bytes.
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

// percentAll is the form of those who encode each byte.
func percentAll(digits string) string {
	var b strings.Builder
	for i := 0; i < len(digits); i += 2 {
		b.WriteString("%" + digits[i:i+2])
	}
	return b.String()
}

// inBase64 is what is sure of a secret within a longer text in base64: three bytes become four characters, so that it
// depends on how many bytes stand before it (modulo three) what its characters are. Those that it shares with its
// neighbours are left out; they tell less than six bits each.
func inBase64(e *base64.Encoding, secret string, before int) string {
	text := e.EncodeToString(append(make([]byte, before), secret...))
	return text[(before*8+5)/6 : (before+len(secret))*8/6]
}

// escaped is s as JSON may have it that escapes all that does not print by its number.
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
