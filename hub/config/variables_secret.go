package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the length in bytes from which on a value is treated as a secret.
const minSecret = 4

// plainWords are words that are too common to be secret.
var plainWords = map[string]bool{}

func init() {
	for _, word := range strings.Fields(`true false null none auto default yes on off info debug warn warning error trace verbose
		production development staging test local localhost stdio http https utf-8 c.utf-8 en_us.utf-8
		application/json text/event-stream text/plain no-cache keep-alive`) {
		plainWords[word] = true
	}
}

// secrets are the values that must be made unreadable wherever they appear.
//
// A short or common value is not treated as a secret, even if it has the origin of one: if each "1", "true" or "debug"
// in a log were replaced, nothing in it could be read. So values of less than 4 bytes are not secrets, which includes
// all numbers of up to 3 digits. Neither are the common words above, nor the places that the hub shows anyway: home,
// the workspace folders, and the directory in which it runs.
type secrets struct {
	places []string
	found  map[string]bool
}

func (s *secrets) add(value string) {
	value = strings.TrimSpace(value)
	if len(value) < minSecret || plainWords[strings.ToLower(value)] || slices.Contains(s.places, value) {
		return
	}
	if s.found == nil {
		s.found = map[string]bool{}
	}
	s.found[value] = true
}

// list returns the secrets, the longest first, so that a secret within another one does not split the longer one.
func (s *secrets) list() []string {
	var out []string
	for value := range s.found {
		out = append(out, value)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return out
}

// keepSecret adds the values that are secret because of where they are used, whatever their origin: people write tokens
// into their files.
func (e *expander) keepSecret(s *Server) {
	for _, value := range s.Env {
		if value != nil {
			e.secrets.add(*value)
		}
	}
	for _, value := range s.Header {
		e.secrets.add(value)
		// "Bearer x": x alone may appear elsewhere.
		if _, token, ok := strings.Cut(strings.TrimSpace(value), " "); ok {
			e.secrets.add(token)
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		for _, values := range u.Query() { // as the server parses them: "?api_key=x"
			for _, value := range values {
				e.secrets.add(value)
			}
		}
	}
	for _, value := range []string{s.OAuth.ClientSecret, s.OAuth.PrivateKeyPEM, s.OAuth.WorkloadToken,
		s.OAuth.IDP.IDToken} {
		e.secrets.add(value)
	}
}
