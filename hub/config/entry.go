package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// entryReader turns one entry into a Server. The first method that finds
// something wrong sets broken; the others go on, so that all of it is told at once.
type entryReader struct {
	*loader
	doc    *document
	server string
	broken bool
	varKey string // the first key with a variable, and its place
	varAt  int
}

func (r *entryReader) warn(at int, key, format string, args ...any) {
	r.report(r.doc.problem(at, r.server, key, fmt.Sprintf(format, args...), false))
}

func (r *entryReader) fail(at int, key, format string, args ...any) {
	r.broken = true
	r.report(r.doc.problem(at, r.server, key, fmt.Sprintf(format, args...), true))
}

func (r *entryReader) wrong(v value, key, want string) {
	r.fail(v.at(), key, "must be %s, is %s", want, v.kind())
}

// Keys that other hosts give a meaning that the hub does not have yet, and keys
// that say where an entry came from, which needs no word.
var (
	unsupported = map[string]bool{
		"envFile": true, "dev": true, "sandboxEnabled": true, "sandbox": true, "network": true, "filesystem": true,
		"tools": true, "disabledTools": true, "watchPaths": true, "deferTools": true,
	}
	provenance = map[string]bool{"gallery": true, "version": true}
	// foreign are the words of applications whose files the hub does not read.
	foreign = map[string]string{"serverUrl": "url", "httpUrl": "url", "transport": "type", "transportType": "type"}
	// only says for which transport a key has a meaning; true: a URL.
	only = map[string]bool{"command": false, "args": false, "env": false, "cwd": false, "stop": false, "url": true, "headers": true, "oauth": true}
)

func (r *entryReader) read(m member) Server {
	s := Server{Era: "auto"}
	members, ok := m.value.object()
	if !ok {
		r.wrong(m.value, "", "an object")
		return s
	}
	keys := make(map[string]member)
	for _, k := range r.distinct(r.doc, members, r.server, "") {
		// null stands for "not given"; only within env it has a meaning of its own.
		if !k.value.isNull() {
			keys[k.name] = k
		}
	}
	if s.Transport, ok = r.transport(keys); !ok {
		return s
	}
	remote := s.Transport != TransportStdio
	var allowed []string
	explicit := map[string]Policy{}
	for _, k := range members {
		if at, ok := keys[k.name]; !ok || at.at != k.at {
			continue // a null, or a double that was reported
		}
		v := k.value
		if forURL, bound := only[k.name]; bound && forURL != remote {
			kind := map[bool]string{true: "with a URL", false: "with a command"}[forURL]
			r.warn(k.at, k.name, "is only for servers %s and was ignored", kind)
			continue
		}
		switch k.name {
		case "type":
		case "url":
			s.URL = r.url(k.name, v)
		case "headers":
			s.Header = r.headers(k.name, v)
		case "oauth":
			s.OAuth = r.oauth(k.name, v)
		case "command":
			s.Command = r.text(k.name, v)
			if _, ok := v.str(); ok && strings.TrimSpace(s.Command) == "" {
				r.fail(v.at(), k.name, "must not be empty")
			}
		case "args":
			s.Args = r.texts(k.name, v)
		case "env":
			s.Env = r.env(k.name, v)
		case "cwd":
			s.Dir = r.text(k.name, v)
		case "disabled":
			if s.Disabled, ok = v.boolean(); !ok {
				r.wrong(v, k.name, "true or false")
			}
		case "alwaysAllow", "autoApprove":
			allowed = append(allowed, r.patterns(k.name, v)...)
		case "approvals":
			explicit = r.approvals(k.name, v)
		case "timeouts":
			s.Timeouts = r.timeouts(k.name, v)
		case "stop":
			s.Grace = r.stop(k.name, v)
		case "era":
			if s.Era, _ = v.str(); s.Era != "auto" && s.Era != "legacy" && s.Era != "modern" {
				r.fail(v.at(), k.name, `must be "auto", "legacy" or "modern"`)
			}
		case "maxMessageBytes":
			n, isNumber := v.number()
			bytes, err := strconv.Atoi(n)
			if !isNumber || err != nil || bytes < 0 {
				r.fail(v.at(), k.name, "must be a whole number of bytes, 0 for the default")
			}
			s.MaxMessageBytes = bytes
		case "timeout":
			r.warn(k.at, k.name, `is ignored: its unit depends on the application; use "timeouts", for example {"total": "90s"}`)
		default:
			r.unknown(k)
		}
	}
	if needed := map[bool]string{false: "command", true: "url"}[remote]; !has(keys, needed) {
		r.fail(m.at, needed, "is missing")
	}
	s.Approvals = merge(allowed, explicit)
	if r.varKey != "" {
		r.warn(r.varAt, r.varKey, "holds a variable; variables are not expanded yet, and the text is used as it stands")
	}
	return s
}

var known = []string{
	"type", "command", "args", "env", "cwd", "disabled", "alwaysAllow", "autoApprove",
	"approvals", "timeouts", "stop", "era", "maxMessageBytes", "url", "headers", "oauth",
}

func (r *entryReader) unknown(k member) {
	if provenance[k.name] {
		return
	}
	if unsupported[k.name] {
		r.warn(k.at, k.name, "is not supported yet and was ignored")
		return
	}
	if name, ok := foreign[k.name]; ok {
		r.warn(k.at, k.name, "is not known and was ignored; did you mean %q?", name)
		return
	}
	for _, name := range known {
		if strings.EqualFold(name, k.name) {
			r.warn(k.at, k.name, "is not known and was ignored; did you mean %q?", name)
			return
		}
	}
	r.warn(k.at, k.name, "is not known and was ignored")
}

// variable is what the dialects have in common: ${...}.
var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// noteVariable remembers the first key whose text holds a variable.
func (r *entryReader) noteVariable(key string, v value) {
	if s, _ := v.str(); r.varKey == "" && variable.MatchString(s) {
		r.varKey, r.varAt = key, v.at()
	}
}

// text reads a string that goes to the process, or to the server.
func (r *entryReader) text(key string, v value) string {
	s, ok := v.str()
	if !ok {
		r.wrong(v, key, "a string")
		return ""
	}
	if strings.ContainsRune(s, 0) {
		r.fail(v.at(), key, "must not hold a zero byte")
	}
	r.noteVariable(key, v)
	return s
}

func (r *entryReader) texts(key string, v value) []string {
	values, ok := v.array()
	if !ok {
		r.wrong(v, key, "an array of strings")
		return nil
	}
	var out []string
	for i, e := range values {
		out = append(out, r.text(fmt.Sprintf("%s[%d]", key, i), e))
	}
	return out
}

func (r *entryReader) env(key string, v value) map[string]*string {
	members, ok := v.object()
	if !ok {
		r.wrong(v, key, "an object")
		return nil
	}
	env := make(map[string]*string, len(members))
	for _, m := range r.distinct(r.doc, members, r.server, key) {
		at := path(key, m.name)
		if m.name == "" || strings.ContainsAny(m.name, "=\x00") {
			r.fail(m.at, at, `the name of a variable must not be empty or hold "=" or a zero byte`)
			continue
		}
		if m.value.isNull() {
			env[m.name] = nil
			continue
		}
		var s string
		if n, ok := m.value.number(); ok {
			s = n
		} else if b, ok := m.value.boolean(); ok {
			s = strconv.FormatBool(b)
		} else if _, ok := m.value.str(); ok {
			s = r.text(at, m.value)
		} else {
			r.wrong(m.value, at, "a string, a number, true, false or null")
			continue
		}
		env[m.name] = &s
	}
	return env
}

// settings walks an object whose keys are a fixed set.
func (r *entryReader) settings(key string, v value, set func(name string, v value) bool) {
	members, ok := v.object()
	if !ok {
		r.wrong(v, key, "an object")
		return
	}
	for _, m := range r.distinct(r.doc, members, r.server, key) {
		if !set(m.name, m.value) {
			r.warn(m.at, path(key, m.name), "is not known and was ignored")
		}
	}
}

func (r *entryReader) timeouts(key string, v value) (t Timeouts) {
	r.settings(key, v, func(name string, v value) bool {
		field := map[string]**time.Duration{"connect": &t.Connect, "idle": &t.Idle, "total": &t.Total, "human": &t.Human}[name]
		if field == nil {
			return false
		}
		if !v.isNull() {
			d := r.duration(path(key, name), v)
			*field = &d
		}
		return true
	})
	return t
}

func (r *entryReader) stop(key string, v value) (g Grace) {
	r.settings(key, v, func(name string, v value) bool {
		field := map[string]*time.Duration{"stdin": &g.Stdin, "terminate": &g.Terminate, "kill": &g.Kill}[name]
		if field == nil {
			return false
		}
		if !v.isNull() {
			if *field = r.duration(path(key, name), v); *field == 0 {
				*field = -1 // 0 in the normal form is "not given"
			}
		}
		return true
	})
	return g
}

func (r *entryReader) duration(key string, v value) time.Duration {
	d, ok := duration(v)
	if !ok {
		r.fail(v.at(), key, `must be a duration such as "90s" or "5m", or a number of seconds; 0 means none`)
	}
	return d
}
