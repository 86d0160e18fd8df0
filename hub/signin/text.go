package signin

import (
	"net/url"
	"strings"
)

// without returns s with the secrets replaced. A peer may echo what it was sent.
func without(s string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[secret]")
			s = strings.ReplaceAll(s, url.QueryEscape(secret), "[secret]")
		}
	}
	return s
}
