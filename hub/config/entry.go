package config

import (
	"fmt"
	"regexp"
	"strings"
)

// entryReader turns one entry into a Server. The first method that finds
// something wrong sets broken; the others go on, so that all of it is told at once.
type entryReader struct {
	*loader
	doc       *document
	dialect   *dialect
	server    string
	urlKey    key // that holds the address; without one its name is ""
	s         Server
	broken    bool
	skipped   bool            // the entry is no server, and that is no mistake
	mentioned map[string]bool // ids of inputs in its texts
	varKey    string          // the first key with what looks like a variable, and its place
	varAt     int
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

func (r *entryReader) place(k key) Place {
	line, column := r.doc.position(k.at)
	return Place{Line: line, Column: column, Key: k.path}
}

// mark says where a field of the normal form came from; the last one counts.
func (r *entryReader) mark(field string, k key) { r.s.Fields[field] = r.place(k) }

// markElement marks with an element of an array.
func (r *entryReader) markElement(field string, k key, i int) {
	if values, ok := k.value.array(); ok && i < len(values) {
		r.mark(field, key{member{"", values[i].at(), values[i]}, fmt.Sprintf("%s[%d]", k.path, i)})
	}
}

// read reads the entry: first how the server is reached, then the keys of the dialect in the order of the file, then the hub's own,
// which win.
func (r *entryReader) read(m member) {
	r.s = Server{Era: "auto", Fields: map[string]Place{}}
	members, ok := m.value.object()
	if !ok {
		r.wrong(m.value, "", "an object")
		return
	}
	var ks []key
	for _, k := range r.distinct(r.doc, members, r.server, "") {
		// null stands for "not given"; only within env it has a meaning of its own.
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
	if r.dialect.name == DialectOpencode && onlySwitches(given) {
		r.skipped = true
		r.warn(m.at, "", "only switches a server of another file on or off, and is not followed: files are not merged")
		return
	}
	if !r.transport(given) {
		return
	}
	remote := r.s.Transport != TransportStdio
	for _, ours := range []bool{false, true} {
		for _, k := range ks {
			meaning, theirs := r.dialect.keys[k.name]
			if !theirs {
				meaning, ok = own[k.name]
				if !ok {
					if !ours {
						r.unknown(k)
					}
					continue
				}
			}
			if ours == theirs {
				continue
			}
			if meaning.servers != anyServer && (meaning.servers == withURL) != remote {
				kind := map[servers]string{withURL: "with a URL", withCommand: "with a command"}[meaning.servers]
				r.warn(k.at, k.path, "is only for servers %s and was ignored", kind)
				continue
			}
			meaning.read(r, k)
		}
	}
	if remote && r.address(given).name == "" {
		r.fail(m.at, "url", "is missing")
	} else if _, ok := given["command"]; !remote && !ok {
		r.fail(m.at, "command", "is missing")
	}
	if r.dialect.check != nil {
		r.dialect.check(r, given)
	}
	if r.varKey != "" {
		r.warn(r.varAt, r.varKey, "holds what looks like a variable; %s expands none, and the text is used as it stands", r.dialect.title)
	}
}

// onlySwitches: opencode merges its files, so that an entry may have nothing but the switch.
func onlySwitches(given map[string]key) bool {
	_, enabled := given["enabled"]
	return enabled && len(given) == 1
}

var (
	// looksLikeVariable is what the dialects have in common.
	looksLikeVariable = regexp.MustCompile(`\$\{[^}]*\}`)
	inputReference    = regexp.MustCompile(`\$\{input:([^}]*)\}`)
)

// note looks for references in a text: what stands for something else, and what cannot stand for anything.
func (r *entryReader) note(key string, v value) {
	s, _ := v.str()
	switch {
	case r.dialect.reference == nil:
		if r.varKey == "" && looksLikeVariable.MatchString(s) {
			r.varKey, r.varAt = key, v.at()
		}
	case r.dialect.name == DialectCrush && runsCommand(s):
		r.fail(v.at(), key, "has $(...) or backquotes, which Crush runs as a command: the hub runs no commands of a config file")
	case r.dialect.name == DialectVSCode && strings.Contains(s, "${"):
		for _, m := range inputReference.FindAllStringSubmatch(s, -1) {
			if r.mentioned == nil {
				r.mentioned = map[string]bool{}
			}
			r.mentioned[m[1]] = true
		}
		if strings.Contains(s, "${command:") {
			r.warn(v.at(), key, "has ${command:...}, which VS Code runs as a command: the hub runs no commands of a config file, and the server will not start")
		}
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
	r.note(key, v)
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

// settings walks an object whose keys are a fixed set.
func (r *entryReader) settings(key string, v value, set func(m member) bool) {
	members, ok := v.object()
	if !ok {
		r.wrong(v, key, "an object")
		return
	}
	for _, m := range r.distinct(r.doc, members, r.server, key) {
		if !set(m) {
			r.warn(m.at, path(key, m.name), "is not known and was ignored")
		}
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
