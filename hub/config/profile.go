package config

import (
	"fmt"
	"slices"
	"strings"
)

// Profile says which servers and tools a model or a client of the gateway gets, and how. The zero value means all of
// them, with the defaults.
type Profile struct {
	Name   string
	Origin Origin
	// Servers are names or globs; nil means every server.
	Servers []string
	// Tools maps names or globs of servers to names or globs of their visible tools. All tools of a server that matches no
	// key are visible.
	Tools map[string][]string
	// Approval is "window" or "client", Questions is "client", "window" or "either", and ToolsMode is "all", "search" or
	// "auto". Each is empty if the profile does not set it.
	Approval, Questions, ToolsMode string
	// MaxTokens bounds results; 0 means no bound.
	MaxTokens int
	// PlainNames says that tools keep the names that their servers give them, if no two are alike.
	PlainNames bool
	// Named are the tools in Tools whose name and server are not globs.
	Named []NamedTool
}

// NamedTool is a tool that a profile names, and the problem to report if its server has no such tool.
type NamedTool struct {
	Server, Tool string
	Missing      Problem
}

// MissingTools returns the problems for those tools of a server that the profile names and the server does not have.
func (p *Profile) MissingTools(server string, tools map[string]bool) (problems []Problem) {
	if p == nil {
		return nil
	}
	for _, n := range p.Named {
		if n.Server == server && !tools[n.Tool] {
			problems = append(problems, n.Missing)
		}
	}
	return problems
}

// HasServer reports whether a server is in the profile. A nil profile has all.
func (p *Profile) HasServer(server string) bool {
	return p == nil || p.Servers == nil || matchesAny(p.Servers, server)
}

// Has reports whether a tool is in the profile. A nil profile has all.
func (p *Profile) Has(server, tool string) bool {
	if !p.HasServer(server) {
		return false
	}
	if p == nil {
		return true
	}
	limited := false
	for of, tools := range p.Tools {
		if Match(of, server) {
			limited = true
			if matchesAny(tools, tool) {
				return true
			}
		}
	}
	return !limited
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
}

// ownKey is the top-level key of a file that holds the hub's settings that belong to no single server.
const ownKey = "mcphub"

// ownSettings reads the settings below ownKey.
func (l *loader) ownSettings(root []member) {
	m := find(root, ownKey)
	if m == nil || m.value.isNull() {
		return
	}
	r := reader{loader: l}
	for at, s := range r.members(m.value, ownKey, "an object") {
		switch {
		case s.name == "profiles":
			l.readProfiles(s)
		case !isRemark(s.name):
			l.warn(s.at, at, `is not known and was ignored; known is "profiles"`)
		}
	}
}

func (l *loader) readProfiles(m member) {
	key := path(ownKey, m.name)
	if l.source.Scope != "user" && l.source.Scope != "host" && !l.source.Trusted {
		l.warn(m.at, key,
			"profiles of a workspace's file are not read: they could do away with approvals. Write them into a file of yours")
		return
	}
	all := reader{loader: l}
	i := -1
	for at, p := range all.members(m.value, key, "an object of profiles") {
		i++
		switch why := CheckName(p.name); {
		case i == l.limits.servers:
			l.warn(p.at, key, "has more than %d profiles; this one and those after it were not read", i)
			return
		case why != "":
			l.warn(p.at, key, "%s", why)
		default:
			r := profileReader{reader: reader{loader: l, instead: "; the profile is left out"},
				p: Profile{Name: p.name, Origin: l.origin(p, "", pointer("/"+ownKey+"/profiles", p.name))}}
			r.read(p, at)
		}
	}
}

// profileReader reads one profile. A profile with an unusable value is left out, because it is unknown what it would
// allow.
type profileReader struct {
	reader
	p     Profile
	named []namedServer
}

// namedServer is a server that a profile names. Whether it exists is checked when all files have been read.
type namedServer struct {
	name    string
	number  int // of the source
	missing Problem
}

func (r *profileReader) read(m member, in string) {
	for at, m := range r.members(m.value, in, "an object") {
		switch k := (key{m, at}); k.name {
		case "servers":
			r.p.Servers = r.names(k, r.wantServer)
		case "tools":
			r.tools(k)
		case "approval":
			r.p.Approval = r.word(k, "window", "client")
		case "questions":
			r.p.Questions = r.word(k, "client", "window", "either")
		case "toolsMode":
			r.p.ToolsMode = r.word(k, "all", "search", "auto")
		case "maxTokens":
			r.p.MaxTokens = r.count(k)
		case "plainNames":
			r.p.PlainNames = r.truth(k)
		default:
			if !isRemark(k.name) {
				r.warn(k.at, at, "is not known and was ignored; known are servers, tools, approval, questions, toolsMode, "+
					"maxTokens and plainNames")
			}
		}
	}
	if r.broken {
		return
	}
	if r.profiles == nil {
		r.profiles = map[string]Profile{}
	}
	if old, twice := r.profiles[r.p.Name]; twice {
		r.warn(m.at, in, "replaces the profile of this name at %s", place(old.Origin))
	}
	r.profiles[r.p.Name] = r.p
	r.loader.named = append(r.loader.named, r.named...)
}

// wantServer records that a server must exist, unless name is a glob.
func (r *profileReader) wantServer(name string, at int, key string) {
	if !strings.ContainsAny(name, "*?") {
		r.named = append(r.named, namedServer{name, r.number, r.doc.problem(at, "", key,
			"there is no server "+quote(name), false)})
	}
}

// tool returns a function that records tools which the server must have. This is checked when the tools of the server
// are known.
func (r *profileReader) tool(server string) func(name string, at int, key string) {
	return func(name string, at int, key string) {
		if !strings.ContainsAny(server, "*?") && !strings.ContainsAny(name, "*?") {
			r.p.Named = append(r.p.Named, NamedTool{server, name, r.doc.problem(at, "", key,
				"server "+quote(server)+" has no tool "+quote(name), false)})
		}
	}
}

// names reads a list of names and globs, and calls note with each.
func (r *profileReader) names(k key, note func(name string, at int, key string)) []string {
	names := []string{}
	for at, e := range r.elements(k.value, k.path, "an array of names") {
		switch name, ok := e.str(); {
		case len(names) == r.limits.values:
			r.fail(e.at(), k.path, "has more than %d names", r.limits.values)
			return nil
		case !ok || name == "" || len(name) > r.limits.name:
			r.wrong(e, at, "a name, or a glob with * and ?")
			return nil
		default:
			note(name, e.at(), at)
			names = append(names, name)
		}
	}
	return names
}

func (r *profileReader) tools(k key) {
	r.p.Tools = map[string][]string{}
	for _, m := range r.members(k.value, k.path, "an object of lists of tools, by server") {
		if len(r.p.Tools) == r.limits.values {
			r.fail(m.at, k.path, "has more than %d servers", r.limits.values)
			return
		}
		at := path(k.path, cut(m.name, maxName))
		r.wantServer(m.name, m.at, at)
		r.p.Tools[m.name] = r.names(key{m, at}, r.tool(m.name))
	}
}

// word reads one of words.
func (r *profileReader) word(k key, words ...string) string {
	want := `one of "` + strings.Join(words, `", "`) + `"`
	s, ok := k.value.str()
	if !ok {
		r.wrong(k.value, k.path, want)
	} else if !slices.Contains(words, s) {
		r.fail(k.value.at(), k.path, "must be %s, is %s", want, quote(s))
	}
	return s
}

// count reads a whole number that is not negative.
func (r *profileReader) count(k key) int {
	text, ok := k.value.number()
	n := 0
	if _, err := fmt.Sscanf(text, "%d", &n); !ok || err != nil || n < 0 || fmt.Sprint(n) != text {
		r.wrong(k.value, k.path, "a whole number of tokens")
	}
	return n
}

// findNamed reports the servers that profiles name and no file has.
func (l *loader) findNamed() {
	there := map[string]bool{}
	for _, e := range l.entries {
		there[e.server.Name] = true
	}
	for _, n := range l.named {
		if !there[n.name] {
			l.number = n.number
			l.report(n.missing)
		}
	}
}
