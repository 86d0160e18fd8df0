package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxText bounds a text after its references are replaced, in bytes.
const maxText = 1 << 20

// expander replaces the references in one server. It is used once, by one goroutine.
type expander struct {
	server  Server // as it is configured
	vars    Variables
	grammar grammar
	// placesOnly leaves all references except folders and the home directory as they are.
	placesOnly bool

	firstErr error // the first *ResolveError
	missing  error // for the first input that has no value
	found    []Problem
	secrets  secrets
	fromFile map[string]string
}

func newExpander(s Server, v Variables) *expander {
	if v.Getenv == nil {
		v.Getenv = func(string) (string, bool) { return "", false }
	}
	if v.ReadFile == nil {
		v.ReadFile = readFile
	}
	e := &expander{server: s, vars: v, grammar: grammars[s.Origin.Dialect]}
	e.secrets.places = append([]string{v.Home, v.Cwd, s.Origin.Folder}, slices.Collect(maps.Values(v.Folders))...)
	return e
}

// expand returns the text with its references replaced, in one pass from left to right. Values are not expanded again.
func (e *expander) expand(field, text string) string {
	g := e.grammar
	if g.refers == nil {
		return text
	}
	if g.nested != nil && g.nested.MatchString(text) {
		e.fail(field, "holds a reference within a reference, which cannot be used here")
		return text
	}
	found := g.refers.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return text
	}
	if g.maxUnits > 0 && !shorterThan(text, g.maxUnits) {
		e.warn(field, "holds references, which stay as they are: it is longer than %d characters", g.maxUnits)
		return text
	}
	var b strings.Builder
	done := 0
	for _, m := range found {
		groups := make([]string, 5)
		for i := range groups {
			if 2*i < len(m) && m[2*i] >= 0 {
				groups[i] = text[m[2*i]:m[2*i+1]]
			}
		}
		b.WriteString(text[done:m[0]])
		done = m[1]
		value, ok := "", false
		if !e.placesOnly || g.shown != nil && g.shown.MatchString(groups[0]) {
			value, ok = g.resolve(e, field, groups)
		}
		if !ok {
			value = groups[0]
		}
		if b.WriteString(value); b.Len() > maxText {
			break
		}
	}
	if b.WriteString(text[done:]); b.Len() > maxText {
		e.fail(field, "is larger than %d bytes once its references are replaced", maxText)
		return text
	}
	return b.String()
}

// shorterThan reports whether s has at most most UTF-16 units, which is how JavaScript counts.
func shorterThan(s string, most int) bool {
	units := 0
	for _, r := range s {
		if units++; r > 0xFFFF {
			units++
		}
	}
	return units <= most
}

// ProblemAt returns a problem with a field of the normal form, with the place where it was configured.
func (s *Server) ProblemAt(field, message string, fatal bool) Problem {
	o := s.Origin
	p := Problem{File: o.File, Line: o.Line, Column: 1, Server: s.Name, Key: field, Message: message, Fatal: fatal}
	if o.Line == 0 {
		p.Column = 0
	}
	base, _, _ := strings.Cut(field, "[")
	base, _, _ = strings.Cut(base, ".")
	for _, name := range []string{field, base} {
		if at, ok := s.Fields[name]; ok {
			p.Line, p.Column = at.Line, at.Column
			if at.Key != "" && name == field {
				p.Key = at.Key
			}
			break
		}
	}
	return p
}

func (e *expander) fail(field, format string, args ...any) {
	p := e.note(field, fmt.Sprintf(format, args...), true)
	if e.firstErr == nil {
		e.firstErr = &ResolveError{Problem: p}
	}
}

// note adds a problem unless it was added before.
func (e *expander) note(field, message string, fatal bool) Problem {
	p := e.server.ProblemAt(field, message, fatal)
	if !slices.Contains(e.found, p) {
		e.found = append(e.found, p)
	}
	return p
}

func (e *expander) warn(field, format string, args ...any) {
	e.note(field, fmt.Sprintf(format, args...), false)
}

// env returns a variable of the environment, and adds its value to the secrets.
func (e *expander) env(name string) (string, bool) {
	value, ok := e.vars.Getenv(name)
	if ok {
		e.secrets.add(value)
	}
	return value, ok
}

// orEmpty returns a variable of the environment in a grammar in which an unset variable is empty, as in a shell; it
// warns of an unset one. sure says that nothing but a variable has this form. Otherwise the text may be a part of a
// password, and is shown only if it looks like the name of a variable.
func (e *expander) orEmpty(field, name string, sure bool) string {
	value, ok := e.env(name)
	switch {
	case ok:
	case sure || conventional.MatchString(name):
		e.warn(field, "the environment variable %s is not set; its reference becomes an empty text", quote(name))
	default:
		e.warn(field, "refers to an environment variable that is not set; the reference becomes an empty text")
	}
	return value
}

// stays warns that a variable is not set, so that its reference stays.
func (e *expander) stays(field, name string) (string, bool) {
	e.warn(field, "the environment variable %s is not set; its reference stays as it is", quote(name))
	return "", false
}

func (e *expander) input(field, id string) (string, bool) {
	i := slices.IndexFunc(e.server.Inputs, func(in Input) bool { return in.ID == id })
	if i < 0 {
		e.fail(field, "refers to the input %s, which its file does not have, or not in a form that can be asked for",
			quote(id))
		return "", false
	}
	in := e.server.Inputs[i]
	if field == "command" && len(in.Options) == 0 { // a person who answers for an input must not decide what is run
		e.fail(field, "must not come from an input that takes any text: write it into the file, or give the input options")
		return "", false
	}
	if e.vars.Input != nil {
		// A value that the present options do not allow counts as missing.
		if value, ok := e.vars.Input(id); ok && in.allows(value) {
			if in.Secret {
				e.secrets.add(value)
			}
			return value, true
		}
	}
	if e.missing == nil {
		e.missing = &MissingInputError{in}
	}
	return "", false
}

// folder returns a workspace folder by name. Without a name it returns that of the source, else the only folder.
func (e *expander) folder(name string) string {
	switch {
	case name != "":
		return e.vars.Folders[name]
	case e.server.Origin.Folder != "":
		return e.server.Origin.Folder
	case len(e.vars.Folders) == 1:
		for _, folder := range e.vars.Folders {
			return folder
		}
	}
	return ""
}

// file returns the contents of a file, trimmed, and adds them to the secrets.
func (e *expander) file(field, name string) (string, bool) {
	file := e.home(name)
	if !filepath.IsAbs(file) {
		file = filepath.Join(e.beside(), file)
	}
	data, err := e.vars.ReadFile(file)
	switch {
	case err != nil:
		e.fail(field, "the file %s cannot be read: %s", quote(name), why(err))
		return "", false
	case len(data) > maxFile:
		e.fail(field, "the file %s %s", quote(name), errTooLarge)
		return "", false
	}
	value := strings.TrimSpace(string(data))
	e.secrets.add(value)
	return value, true
}

// home replaces "~" and "~/" at the start of a path.
func (e *expander) home(name string) string {
	if e.vars.Home == "" || name == "" || name[0] != '~' {
		return name
	}
	if name == "~" {
		return e.vars.Home
	}
	if name[1] == '/' || name[1] == filepath.Separator {
		return filepath.Join(e.vars.Home, name[2:])
	}
	return name
}

// below makes a path absolute: for an entry of a workspace below its folder, else below the folder of the file.
func (e *expander) below(name string) string {
	name = filepath.FromSlash(e.home(name)) // on Windows, a file may use slashes, and the value of a variable backslashes
	if filepath.IsAbs(name) {
		return name
	}
	if folder := e.folder(""); folder != "" && e.server.Origin.OfWorkspace() {
		return under(folder, name)
	}
	return under(e.beside(), name)
}

// under returns the path of a relative name in a folder. On Windows, a name that begins with a separator is relative to
// the root of the folder's drive or share, as in the applications that the files belong to.
func under(folder, name string) string {
	if name != "" && os.IsPathSeparator(name[0]) {
		return filepath.Join(filepath.VolumeName(folder)+string(filepath.Separator), name)
	}
	return filepath.Join(folder, name)
}

// beside returns the folder of the file that has the server. If the file name is relative, or the text is not a file,
// it is relative to the working directory of the hub.
func (e *expander) beside() string {
	folder := filepath.Dir(e.server.Origin.File)
	if !filepath.IsAbs(folder) && e.vars.Cwd != "" {
		folder = filepath.Join(e.vars.Cwd, folder)
	}
	return folder
}

// dir returns the working directory of a process. If the config gives none, it depends on the application. An entry of
// the user does not run in the folder that happens to be open, unless it names it: many programs look for what they run
// where they run (npx, python -m, node), and the folder may be anybody's.
func (e *expander) dir(name string) string {
	o := e.server.Origin
	switch {
	case strings.TrimSpace(name) != "":
		return e.below(name)
	case e.server.URL != "":
		return "" // no process
	case o.Dialect == DialectDesktop:
		return e.vars.Home
	case o.OfWorkspace() && (o.Dialect == DialectVSCode || o.Dialect == DialectRoo):
		if folder := e.folder(""); folder != "" {
			return folder
		}
	}
	folder := e.beside()
	switch {
	case o.Folder != "" && (o.OfWorkspace() || o.Scope == "host" && !filepath.IsAbs(o.File)): // a text of a host
		return o.Folder
	case o.Scope == "workspace" && filepath.IsAbs(o.File):
		return folder
	case o.OfWorkspace() || !filepath.IsAbs(folder) || e.ofApplication(folder) || folder == filepath.Dir(folder):
		return e.vars.Home // also if a host runs in the root directory, as programs that a desktop starts do
	case e.vars.IsFolder != nil && !e.vars.IsFolder(folder):
		return e.vars.Home
	case strings.HasPrefix(filepath.Base(folder), "."): // .vscode, .cursor
		return filepath.Dir(folder)
	}
	return folder
}

// ofApplication reports whether a folder is one in which an application keeps its settings, and not a place to work in:
// a folder below the home directory that is hidden, or that the system has for settings.
func (e *expander) ofApplication(folder string) bool {
	below, err := filepath.Rel(e.vars.Home, folder)
	if e.vars.Home == "" || err != nil || !filepath.IsLocal(below) {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(below), "/")
	return first == "Library" || first == "AppData" || strings.HasPrefix(first, ".") && first != "."
}
