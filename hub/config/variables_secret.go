package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the length, in bytes, below which a value is not treated as a secret.
const minSecret = 4

// plainWords are values that are too common to be secret.
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
// A value that is short or common is none, although it came from where secrets come from: to replace each "1", "true"
// or "debug" in a log by stars would hide everything but the secrets. So values of less than 4 bytes are none (which
// all numbers below 4 digits are), nor are the common words above, nor the places that the hub shows anyway: home, the
// workspace folders, the directory it runs in.
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

// list has the longest first, so that a secret within another does not break up the longer one.
func (s *secrets) list() []string {
	var out []string
	for value := range s.found {
		out = append(out, value)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return out
}

// keepSecret adds what is secret by where it is used, wherever it came from: people write tokens into their files.
func (e *expander) keepSecret(s *Server) {
	for _, value := range s.Env {
		if value != nil {
			e.secrets.add(*value)
		}
	}
	for _, value := range s.Header {
		e.secrets.add(value)
		// "Bearer x": x alone is what leaks elsewhere.
		if _, token, ok := strings.Cut(strings.TrimSpace(value), " "); ok {
			e.secrets.add(token)
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		for _, values := range u.Query() { // as the server reads them: "?api_key=x"
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
