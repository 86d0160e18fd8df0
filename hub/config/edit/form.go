package edit

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Form is a server that is to be added: an Entry, or the JSON text of one as people find it in instructions.
type Form struct {
	Entry *Entry
	// JSON is a text as Read takes it. Of several servers in it the one with the name of the server counts.
	JSON string
	// Dialect is that of JSON; "": it is found out.
	Dialect string
	// Changed takes the place of what JSON says of how the server is reached, in the dialect of JSON; nil: that counts.
	Changed *Entry
	// Inputs are added to those of the file. One that is there already, alike, is left as it is.
	Inputs []config.Input
}

// own are keys that mean the same in every dialect, as they are the hub's.
var own = []string{"era", "start", "idleStop", "inheritEnv", "stop", "maxMessageBytes", "timeouts", "approvals",
	"description"}

// in returns the members of the entry in a dialect, and the keys that were left out as it has no words for them.
func (f *Form) in(name, dialect string) (o object, left []string, r *Refusal) {
	if f.Entry != nil {
		o, r = f.Entry.write(dialect)
		return o, nil, r
	}
	found, r := pasted(f.JSON, f.Dialect, name)
	if r != nil {
		return nil, nil, r
	}
	given, err := parseValue(found.JSON)
	if err != nil {
		return nil, nil, refuse(Wrong, 0, "", "the entry %s", err)
	}
	from := found.Dialect
	if f.Changed != nil {
		launch, r := f.Changed.write(from)
		if r != nil {
			return nil, nil, r
		}
		for _, key := range launchKeys {
			given = given.without(key)
		}
		given = append(launch, given...)
		if found, r = pasted(jsonText(given, "", "", "", true), from, name); r != nil {
			return nil, nil, r
		}
	}
	if from == dialect {
		return given, nil, nil
	}
	s := found.Server
	if s == nil {
		for _, p := range found.Problems {
			if p.Fatal {
				return nil, nil, refuseProblem(Wrong, p, 0)
			}
		}
		return nil, nil, refuse(Wrong, 0, "", "the text is no entry of a server")
	}
	entry := Entry{Command: s.Command, Args: slices.Clone(s.Args), Env: maps.Clone(s.Env), Dir: s.Dir, URL: s.URL,
		Transport: s.Transport, Header: s.Header}
	if s.URL == "" || s.Transport == config.TransportAuto {
		entry.Transport = ""
	}
	if r := entry.translate(from, dialect); r != nil {
		return nil, nil, r
	}
	if o, r = entry.write(dialect); r != nil {
		return nil, nil, r
	}
	for _, m := range given {
		switch _, said := o.get(m.name); {
		case said || slices.Contains(launchKeys, m.name):
		case slices.Contains(own, m.name):
			o = append(o, m)
		case m.name == "disabled" || m.name == "enabled" || m.name == "isActive":
			if s.Disabled {
				o = append(o, disabledIn(dialect))
			}
		default:
			left = append(left, m.name)
		}
	}
	return o, left, nil
}

// pasted finds the entry of a name in a text, or the only one.
func pasted(text, dialect, name string) (Found, *Refusal) {
	found, problems := Read(text, dialect)
	for _, p := range problems {
		if p.Fatal {
			return Found{}, refuseProblem(Wrong, p, 0)
		}
	}
	i := slices.IndexFunc(found, func(f Found) bool { return f.Name == name })
	switch {
	case len(found) == 0:
		return Found{}, refuse(Wrong, 0, "", "the text has no server in it")
	case i < 0 && len(found) > 1:
		return Found{}, refuse(Wrong, 0, "", "the text has %d servers, and none of them has this name", len(found))
	}
	return found[max(i, 0)], nil
}

// references are what the dialects take for variables, and how they spell one of the environment; "": they have none.
var references = map[string]struct {
	any, env *regexp.Regexp
	spelled  string
}{
	config.DialectVSCode:   {inEditors, envInEditors, "${env:NAME}"},
	config.DialectRoo:      {inEditors, envInEditors, "${env:NAME}"},
	config.DialectCline:    {inEditors, envInEditors, "${env:NAME}"},
	config.DialectCursor:   {inEditors, envInEditors, "${env:NAME}"},
	config.DialectPortable: {inShells, envInShells, "${NAME}"},
	config.DialectGemini:   {inShells, envInShells, "${NAME}"},
	config.DialectCrush:    {inShells, envInShells, "${NAME}"},
	config.DialectOpencode: {inOpencode, envInOpencode, "{env:NAME}"},
}

var (
	inEditors     = regexp.MustCompile(`\$\{`)
	envInEditors  = regexp.MustCompile(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	inShells      = regexp.MustCompile("\\$[A-Za-z_{(]|`")
	envInShells   = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	inOpencode    = regexp.MustCompile(`\{(?:env|file):`)
	envInOpencode = regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// translate spells the variables of one dialect in the words of another. What has none there is refused, and what would
// become one there.
func (e *Entry) translate(from, to string) *Refusal {
	if from == config.DialectMcpServers { // of no known application: it is taken for the file's own
		return nil
	}
	var r *Refusal
	text := func(key, s string) string {
		out, refusal := translateText(key, s, from, to)
		if r == nil {
			r = refusal
		}
		return out
	}
	e.Command, e.Dir, e.URL = text("command", e.Command), text("cwd", e.Dir), text("url", e.URL)
	for i := range e.Args {
		e.Args[i] = text("args", e.Args[i])
	}
	for name, value := range e.Env {
		if value != nil {
			translated := text("env."+name, *value)
			e.Env[name] = &translated
		}
	}
	header := map[string]string{}
	for name, value := range e.Header {
		header[name] = text("headers."+name, value)
	}
	e.Header = header
	return r
}

func translateText(key, s, from, to string) (string, *Refusal) {
	source, target := references[from], references[to]
	if source.any == nil || !source.any.MatchString(s) {
		if target.any != nil && target.any.MatchString(s) {
			return s, refuse(Wrong, 0, key, "holds a text that would become a variable in this file, and was none; add it by hand")
		}
		return s, nil
	}
	rest := source.env.ReplaceAllString(s, "")
	if source.any.MatchString(rest) || target.any == nil || target.any.MatchString(rest) {
		return s, refuse(Wrong, 0, key, "holds a variable that cannot be said in this file's words; write it in them")
	}
	return source.env.ReplaceAllStringFunc(s, func(ref string) string {
		return strings.ReplaceAll(target.spelled, "NAME", source.env.FindStringSubmatch(ref)[1])
	}), nil
}
