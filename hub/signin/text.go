package signin

import (
	"net/url"
	"strings"
	"unicode"
)

// maxText bounds what others say in our errors, in runes.
const maxText = 256

// printable bounds the text of a peer and takes out what could forge a line of a log.
func printable(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n == maxText {
			return b.String() + "..."
		}
		n++
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// without takes secrets out of s. A peer may echo what we have sent.
func without(s string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[secret]")
			s = strings.ReplaceAll(s, url.QueryEscape(secret), "[secret]")
		}
	}
	return s
}
