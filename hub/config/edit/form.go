package edit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
)

// Form is a server that is to be added: an Entry, or the JSON text of one as people find it in instructions.
type Form struct {
	Entry *Entry
	// JSON is an entry, a whole file with one entry, or a part of one: with one entry under a name, with or without the
	// braces around it. With several the one with the name of the server counts.
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

// in gives the members of the entry in a dialect, and the keys that were left out as it has no words for them.
func (f *Form) in(name, dialect string) (o object, left []string, r *Refusal) {
	if f.Entry != nil {
		o, r = f.Entry.write(dialect)
		return o, nil, r
	}
	given, from, r := f.pasted(name)
	if r != nil {
		return nil, nil, r
	}
	if f.Changed != nil {
		launch, r := f.Changed.write(from)
		if r != nil {
			return nil, nil, r
		}
		for _, key := range launchKeys {
			given = given.without(key)
		}
		given = append(launch, given...)
	}
	if from == dialect {
		return given, nil, nil
	}
	s, r := normal(name, given, from)
	if r != nil {
		return nil, nil, r
	}
	entry := Entry{Command: s.Command, Args: slices.Clone(s.Args), Env: map[string]*string{}, Dir: s.Dir, URL: s.URL,
		Transport: s.Transport, Header: s.Header}
	if s.URL == "" || s.Transport == config.TransportAuto {
		entry.Transport = ""
	}
	for name, value := range s.Env {
		entry.Env[name] = value
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

func disabledIn(dialect string) member {
	if dialect == config.DialectCodex || dialect == config.DialectOpencode {
		return member{"enabled", false}
	}
	return member{"disabled", true}
}

// pasted finds the entry in the text.
func (f *Form) pasted(name string) (o object, dialect string, r *Refusal) {
	text := strings.TrimSpace(f.JSON)
	if strings.HasPrefix(text, `"`) { // a part of a file, without its braces
		text = "{" + strings.TrimSuffix(text, ",") + "}"
	}
	all, err := parseValue(text)
	if err != nil {
		return nil, "", refuse(Wrong, 0, "", "the text %s", err)
	}
	if isEntry(all) {
		return all, f.dialectOf(all), nil
	}
	layout := config.LayoutOf(config.Source{JSON: []byte(text), Dialect: f.Dialect, Scope: "host"})
	if len(layout.Spots) == 0 { // {"name": {}}
		for _, m := range all {
			if _, isObject := m.value.(object); !isObject {
				return nil, "", refuse(Wrong, 0, m.name, "is no server, and no key of one")
			}
		}
		return f.one(all, name, f.dialectOf(nil, all))
	}
	entries := object{}
	for _, s := range layout.Spots {
		var v any = all
		for _, step := range config.Steps(s.Origin.Pointer) {
			inner, _ := v.(object)
			v, _ = inner.get(step)
		}
		entries = append(entries, member{s.Name, v})
	}
	return f.one(entries, name, layout.Spots[0].Origin.Dialect)
}

// one chooses the entry of a name, or the only one.
func (f *Form) one(entries object, name, dialect string) (object, string, *Refusal) {
	if len(entries) == 0 {
		return nil, "", refuse(Wrong, 0, "", "the text has no server in it")
	}
	v, ok := entries.get(name)
	if !ok && len(entries) == 1 {
		v = entries[0].value
	} else if !ok {
		return nil, "", refuse(Wrong, 0, "", "the text has %d servers, and none of them has this name", len(entries))
	}
	o, ok := v.(object)
	if !ok {
		return nil, "", refuse(Wrong, 0, "", "the entry must be an object")
	}
	return o, dialect, nil
}

// dialectOf tells the dialect of an entry, or of entries under names, by their keys.
func (f *Form) dialectOf(entry object, entries ...object) string {
	if f.Dialect != "" {
		return f.Dialect
	}
	all := object{{"server", entry}}
	if len(entries) > 0 {
		all = entries[0]
	}
	found := config.DialectMcpServers
	for _, holder := range []string{"mcpServers", "mcp"} {
		text := jsonText(object{{holder, all}}, "", "", "", true)
		layout := config.LayoutOf(config.Source{JSON: []byte(text), Scope: "host"})
		if len(layout.Spots) == 0 {
			continue
		}
		// What is Crush's below "mcp" is anybody's by itself.
		if d := layout.Spots[0].Origin.Dialect; holder == "mcpServers" || d == config.DialectOpencode {
			found = d
		}
	}
	return found
}

// normal reads an entry of a dialect.
func normal(name string, o object, dialect string) (*config.Server, *Refusal) {
	layout := config.LayoutOf(config.Source{Dialect: dialect, Scope: "host", JSON: []byte("{}")})
	if len(layout.Holders) == 0 {
		layout.Holders = []config.Holder{{Pointer: "/mcpServers"}}
	}
	steps := config.Steps(layout.Holders[0].Pointer)
	var v any = object{{name, o}}
	for i := len(steps) - 1; i >= 0; i-- {
		v = object{{steps[i], v}}
	}
	read := config.LayoutOf(config.Source{Dialect: dialect, Scope: "host", JSON: []byte(jsonText(v, "", "", "", true))})
	if s := read.Server(name); s != nil {
		return s, nil
	}
	for _, p := range read.Problems {
		if p.Fatal {
			return nil, refuseProblem(Wrong, p, 0)
		}
	}
	return nil, refuse(Wrong, 0, "", "the text is no entry of a server")
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
