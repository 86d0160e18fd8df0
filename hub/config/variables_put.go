package config

import (
	"cmp"
	"errors"
	"maps"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// namedVariables sets the environment variables and headers that Codex names outside its texts. Their values come from
// the environment.
func (e *expander) namedVariables(s *Server) {
	s.EnvRefs, s.BearerEnv = nil, ""
	remote := s.URL != ""
	get := func(field, name string) (string, bool) {
		value, ok := e.env(name)
		if !ok {
			e.warn(field, "the environment variable %s is not set; this entry is left out", quote(name))
		}
		return value, ok
	}
	if e.server.BearerEnv != "" {
		if token, ok := get("headers.Authorization", e.server.BearerEnv); ok {
			s.setHeader("Authorization", "Bearer "+token)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.server.EnvRefs)) {
		if _, own := s.Env[name]; own && !remote {
			continue // env of the entry overrides EnvRefs
		}
		if remote {
			if value, ok := get("headers."+name, e.server.EnvRefs[name]); ok {
				s.setHeader(name, value)
			}
		} else if value, ok := get("env."+name, e.server.EnvRefs[name]); ok {
			s.setEnv(name, value)
		}
	}
}

// dropEmptyHeaders removes headers whose variables are not set, as Crush does.
func (e *expander) dropEmptyHeaders(s *Server) {
	if s.Origin.Dialect != DialectCrush {
		return
	}
	for name, value := range s.Header {
		if value == "" && e.server.Header[name] != "" {
			delete(s.Header, name)
			e.warn("headers."+name, "is empty once its references are replaced, and is left out")
		}
	}
}

// envFile adds the variables of the file that the entry itself does not set.
func (e *expander) envFile(s *Server) {
	if s.EnvFile == "" {
		return
	}
	file := e.below(s.EnvFile)
	s.EnvFile = ""
	if strings.ContainsRune(file, 0) {
		e.fail("envFile", "holds a zero byte once its references are replaced")
		return
	}
	data, err := e.vars.ReadFile(file)
	switch {
	case err != nil:
		e.fail("envFile", "the file %q cannot be read: %s", e.shownPath(), why(err))
		return
	case len(data) > maxFile:
		e.fail("envFile", "the file %q %s", e.shownPath(), errTooLarge)
		return
	}
	vars, bad := parseEnvFile(data)
	for _, line := range bad {
		e.warn("envFile", "line %d of the file is not NAME=value and was left out", line)
	}
	for _, v := range vars {
		if strings.ContainsRune(v.value, 0) {
			e.fail("envFile", "the variable %s of the file holds a zero byte", quote(v.name))
			return
		}
		e.secrets.add(v.value)
		if _, own := s.Env[v.name]; own {
			continue
		}
		if e.server.Origin.NeedsConsent() && LoadsCode(v.name) {
			e.fail("envFile",
				"the file %q sets %s, which can load other code, and a workspace must not set that where nobody is shown it; write it into env",
				e.shownPath(), quote(v.name))
			if refused, ok := errors.AsType[*ResolveError](e.firstErr); ok {
				refused.Refused = true
			}
			return
		}
		s.setEnv(v.name, v.value)
		if e.fromFile == nil {
			e.fromFile = map[string]string{}
		}
		e.fromFile[v.name] = v.value
	}
}

func (s *Server) setHeader(name, value string) {
	if s.Header == nil {
		s.Header = map[string]string{}
	}
	s.Header[textproto.CanonicalMIMEHeaderKey(name)] = value
}

func (s *Server) setEnv(name, value string) {
	if s.Env == nil {
		s.Env = map[string]*string{}
	}
	s.Env[name] = &value
}

// shownPath returns the path of the envFile for a message: references to the environment and to inputs are not
// replaced.
func (e *expander) shownPath() string {
	shown := newExpander(e.server, e.vars)
	shown.placesOnly = true
	return shown.below(shown.expand("envFile", e.server.EnvFile))
}

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
