package signin

import (
	"net/url"
	"strings"
)

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
