package config

import (
	"regexp"
	"strconv"
	"strings"
)

// Keys of servers that are processes.

func (r *entryReader) command(k key) {
	if _, list := k.value.array(); list {
		r.fail(k.value.at(), k.path, `must be a string, is an array; what follows the program belongs into "args"`)
		return
	}
	r.s.Command = r.text(k.path, k.value)
	if _, ok := k.value.str(); ok && blank(r.s.Command) {
		r.fail(k.value.at(), k.path, "must not be empty")
	}
	// A path with blanks may be one program; "npx -y x" is a command line.
	if word, _, more := strings.Cut(strings.TrimSpace(r.s.Command), " "); more && !strings.ContainsAny(word, `/\${`) {
		r.warn(k.value.at(), k.path, `is one program of that whole name; if it holds arguments, write "command": %s, `+
			`and move what follows into "args", as one text for each word`, quote(word))
	}
	r.path(k)
	r.mark("command", k)
}

// path reports control characters, which no path has: they come from a single backslash in a Windows path, such as
// C:\node.exe, that was read as an escape.
func (r *entryReader) path(k key) {
	if s, _ := k.value.str(); strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != 0 }) {
		r.fail(k.value.at(), k.path, `holds %s; write \\ for each backslash of a path`, controlsOf(s))
	}
}

// driven matches the beginning of a Windows path whose backslash was read as an escape.
var driven = regexp.MustCompile("^[A-Za-z]:[\b\t\n\f\r]")

// controlsOf describes the first control character of a text, as JSON and TOML write it.
func controlsOf(s string) string {
	for _, c := range []struct{ text, name string }{
		{"\n", `a line end, which is what \n is read as`}, {"\t", `a tab, which is what \t is read as`},
		{"\r", `a carriage return, which is what \r is read as`}, {"\b", `a backspace, which is what \b is read as`},
		{"\f", `a form feed, which is what \f is read as`},
	} {
		if strings.Contains(s, c.text) {
			return c.name
		}
	}
	return "a control character"
}

func (r *entryReader) args(k key) {
	for at, v := range r.elements(k.value, k.path, "an array of strings") {
		r.s.Args = append(r.s.Args, r.text(at, v))
		if s, _ := v.str(); driven.MatchString(s) {
			r.warn(v.at(), at, `holds %s; write \\ for each backslash of a path`, controlsOf(s))
		}
	}
	r.mark("args", k)
}

func (r *entryReader) cwd(k key) {
	r.s.Dir = r.text(k.path, k.value)
	r.path(k)
	r.mark("cwd", k)
}

func (r *entryReader) envFile(k key) {
	r.s.EnvFile = r.text(k.path, k.value)
	r.path(k)
	r.mark("envFile", k)
}

func (r *entryReader) env(k key) {
	members, ok := k.value.object()
	if !ok {
		r.wrong(k.value, k.path, "an object")
		return
	}
	r.s.Env = make(map[string]*string, len(members))
	for _, m := range r.distinct(members, r.server, k.path) {
		at := path(k.path, m.name)
		if badVariable(m.name) {
			r.fail(m.at, at, badVariableText)
			continue
		}
		r.mark("env."+m.name, key{m, at})
		if m.value.isNull() {
			r.s.Env[m.name] = nil
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
		r.s.Env[m.name] = &s
	}
}

// watch reads patterns of files. A change of such a file restarts the server.
func (r *entryReader) watch(k key) {
	add := func(at string, v value) {
		if s := r.text(at, v); s != "" {
			r.s.Watch = append(r.s.Watch, s)
		}
	}
	if _, isText := k.value.str(); isText {
		add(k.path, k.value)
	} else {
		for at, v := range r.elements(k.value, k.path, "a pattern of files, or an array of them") {
			add(at, v)
		}
	}
	r.mark("watch", k)
}

// dev reads the settings that VS Code has for the authors of a server.
func (r *entryReader) dev(k key) {
	r.settings(k, func(k key) bool {
		switch {
		case k.name == "watch" && r.s.Transport != TransportStdio:
			r.warn(k.at, k.path, "is only for servers with a command and was ignored")
		case k.name == "watch":
			r.watch(k)
		case k.name == "debug":
			r.warn(k.at, k.path, "is ignored: the hub has no debugger")
		default:
			return false
		}
		return true
	})
}

// sandboxEnabled refuses a server with a sandbox: it would be worse to start the server without the sandbox that
// somebody relies on than not to start it.
func (r *entryReader) sandboxEnabled(k key) {
	if r.truth(k) {
		r.fail(k.at, k.path,
			"the hub has no sandbox, and does not start this server without one; set it to false if that is what you want")
	}
}

// noSandbox is for the rules of a sandbox that is not switched on.
var noSandbox = missing("the hub has no sandbox")
