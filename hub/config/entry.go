package config

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
)

// reader reads values of one part of a file: an entry, an input or a profile. A method that finds a mistake sets
// broken, and reading goes on, so that all mistakes are reported at once.
type reader struct {
	*loader
	server  string // "" if the part is no entry
	instead string // what becomes of the part by a mistake, as the end of a message
	broken  bool
}

func (r *reader) warn(at int, key, format string, args ...any) {
	r.report(r.doc.problem(at, r.server, key, fmt.Sprintf(format, args...), false))
}

func (r *reader) fail(at int, key, format string, args ...any) {
	r.broken = true
	r.report(r.doc.problem(at, r.server, key, fmt.Sprintf(format, args...)+r.instead, r.server != ""))
}

func (r *reader) wrong(v value, key, want string) {
	r.fail(v.at(), key, "must be %s, is %s", want, v.kind())
}

// truth reads a boolean.
func (r *reader) truth(k key) bool {
	yes, ok := k.value.boolean()
	if !ok {
		r.wrong(k.value, k.path, "true or false")
	}
	return yes
}

// elements returns the elements of an array, each with its path. If v is not an array, it reports that what was
// expected.
func (r *reader) elements(v value, key, what string) iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		values, ok := v.array()
		if !ok {
			r.wrong(v, key, what)
		}
		for i, e := range values {
			if !yield(fmt.Sprintf("%s[%d]", key, i), e) {
				return
			}
		}
	}
}

// members returns the members of an object, each with its path. If v is not an object, it reports that what was
// expected.
func (r *reader) members(v value, key, what string) iter.Seq2[string, member] {
	return func(yield func(string, member) bool) {
		members, ok := v.object()
		if !ok {
			r.wrong(v, key, what)
		}
		for _, m := range r.distinct(members, r.server, key) {
			if !yield(path(key, m.name), m) {
				return
			}
		}
	}
}

// settings calls set for each member of an object that is not null, and reports the members for which set returns
// false.
func (r *reader) settings(in key, set func(key) bool) {
	for at, m := range r.members(in.value, in.path, "an object") {
		if !m.value.isNull() && !set(key{m, at}) {
			r.warn(m.at, at, "is not known and was ignored")
		}
	}
}

// entryReader converts one entry to a Server.
type entryReader struct {
	reader
	dialect   *dialect
	urlKey    key // the key that holds the address; its name is "" if there is none
	s         Server
	skipped   bool            // the entry is not a server, which is no mistake
	mentioned map[string]bool // ids of the inputs that its texts refer to
	varKey    string          // the first key that has text that looks like a variable; varAt is its place
	varAt     int
}

// enough reports whether no more problems of the entry are reported.
func (r *entryReader) enough() bool {
	return r.told[placedIn{r.number, r.server}] > r.limits.problems
}

func (r *entryReader) place(k key) Place {
	line, column := r.doc.position(k.at)
	return Place{Line: line, Column: column, Key: k.path}
}

// mark records where a field of the normal form came from. The last call counts.
func (r *entryReader) mark(field string, k key) { r.s.Fields[field] = r.place(k) }

// markElement is like mark, for an element of an array.
func (r *entryReader) markElement(field string, k key, i int) {
	if values, ok := k.value.array(); ok && i < len(values) {
		r.mark(field, key{member{"", values[i].at(), values[i]}, fmt.Sprintf("%s[%d]", k.path, i)})
	}
}

// read reads the entry: first how the server is reached, then the keys of the dialect in the order of the file, then
// the hub's own keys, which override them.
func (r *entryReader) read(m member) {
	r.s = Server{Era: "auto", Fields: map[string]Place{}}
	members, ok := m.value.object()
	if !ok {
		r.wrong(m.value, "", "an object")
		return
	}
	if !r.fits("", m.value) {
		return
	}
	var ks []key
	for _, k := range r.distinct(members, r.server, "") {
		// null means "not given". Only within env it has another meaning.
		if !k.value.isNull() {
			ks = append(ks, key{k, k.name})
		}
	}
	if r.dialect.rearrange != nil {
		ks = r.dialect.rearrange(r, ks)
	}
	given := make(map[string]key, len(ks))
	for _, k := range ks {
		given[k.name] = k
	}
	if r.skipped || r.partial(ks, given) {
		r.skipped = true
		return
	}
	if !r.transport(given) {
		return
	}
	for _, k := range ks {
		if meaning, theirs := r.dialect.keys[k.name]; theirs {
			r.take(k, meaning)
		} else if _, ours := own[k.name]; !ours {
			r.unknown(k)
		}
	}
	for _, k := range ks {
		if meaning, ours := own[k.name]; ours {
			r.take(k, meaning)
		}
	}
	for name := range r.s.Env { // env of the entry overrides EnvRefs
		delete(r.s.EnvRefs, name)
	}
	remote := r.s.Transport != TransportStdio
	if remote && r.address(given).name == "" {
		r.fail(m.at, "url", "is missing")
	} else if _, ok := given["command"]; !remote && !ok {
		r.fail(m.at, "command", "is missing")
	}
	if r.dialect.check != nil {
		r.dialect.check(r, given)
	}
	r.tellVariable()
}

// take reads a key, unless it is for servers of the other kind.
func (r *entryReader) take(k key, m meaning) {
	switch remote := r.s.Transport != TransportStdio; {
	case m.servers == withURL && !remote:
		r.warn(k.at, k.path, "is only for servers with a URL and was ignored")
	case m.servers == withCommand && remote:
		r.warn(k.at, k.path, "is only for servers with a command and was ignored")
	default:
		m.read(r, k)
	}
}

// looksLikeVariable matches what is a reference in most dialects.
var looksLikeVariable = regexp.MustCompile(`\$\{[^}]*\}`)

// note examines a text that may have references.
func (r *entryReader) note(key string, v value) {
	s, ok := v.str()
	if ok && r.varKey == "" && strings.Contains(s, "${") && r.dialect.leaves(s) {
		r.varKey, r.varAt = key, v.at()
	}
	if ok && r.dialect.look != nil {
		r.dialect.look(r, key, v.at(), s)
	}
}

// leaves reports whether a text has something that looks like a variable but is not expanded by this application:
// people copy entries from one application to another.
func (d *dialect) leaves(text string) bool {
	if d.reference == nil {
		return looksLikeVariable.MatchString(text)
	}
	refers := grammars[d.name].refers
	for {
		_, rest, found := strings.Cut(text, "${")
		inner, after, closed := strings.Cut(rest, "}")
		if !found || !closed || refers == nil {
			return false
		}
		if !refers.MatchString("${" + inner + "}") {
			return true
		}
		text = after
	}
}

// shells matches programs that expand variables in their arguments themselves.
var shells = regexp.MustCompile(`(?i)(?:^|[/\\])(?:sh|bash|zsh|dash|fish|ksh|pwsh|powershell|wsl|ssh)(?:\.exe)?$`)

func (r *entryReader) tellVariable() {
	switch {
	case r.varKey == "" || (strings.HasPrefix(r.varKey, "args") || strings.HasPrefix(r.varKey, "command[")) &&
		shells.MatchString(r.s.Command):
	case r.dialect.reference == nil:
		r.warn(r.varAt, r.varKey, "holds what looks like a variable; %s expands none, and the text is used as it stands",
			r.dialect.title)
	default:
		r.warn(r.varAt, r.varKey,
			"holds a variable in a form that %s does not expand, and the text is used as it stands; it has %s", r.dialect.title,
			r.dialect.forms)
	}
}

// text reads a string that is passed to the process or sent to the server.
func (r *entryReader) text(key string, v value) string {
	s, ok := v.str()
	if !ok {
		r.wrong(v, key, "a string")
		return ""
	}
	if strings.ContainsRune(s, 0) {
		r.fail(v.at(), key, "must not hold a zero byte")
	}
	r.note(key, v)
	return s
}

func (r *entryReader) texts(key string, v value) (out []string) {
	for at, e := range r.elements(v, key, "an array of strings") {
		out = append(out, r.text(at, e))
	}
	return out
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
