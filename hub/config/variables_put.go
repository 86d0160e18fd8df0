package config

import (
	"errors"
	"maps"
	"net/textproto"
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
