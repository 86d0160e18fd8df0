package config

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// loader collects what the sources contain.
type loader struct {
	number   int       // of the source that is being read
	again    bool      // the source is a file that was read before, for another folder
	source   Source    // that source; its scope is not empty
	doc      *document // its content
	folder   string    // of the file, for relative paths; "" if the source is not a file
	limits   limits
	count    int              // the number of servers of this source so far
	told     map[placedIn]int // the number of problems
	lists    serverLists
	asked    []Input  // the inputs of the file
	shared   []string // paths of files that hold servers for several folders and were read
	entries  []entry
	off      []switchedOff
	profiles map[string]Profile // by name
	named    []namedServer      // servers that profiles name
	problems []placed
	layout   *Layout // set for LayoutOf, else nil
	leaveOut func(Server) (why string)
}

// placedIn is a source and one of its servers; server is "" for problems that are about no server.
type placedIn struct {
	number int
	server string
}

// report adds a problem. If an entry has too many, the last one says that there are more.
func (l *loader) report(p Problem) {
	if l.told == nil {
		l.told = map[placedIn]int{}
	}
	in := placedIn{l.number, p.Server}
	l.told[in]++
	switch most := l.limits.problems; {
	case l.told[in] == most+1:
		p.Key, p.Message = "", "more is wrong than is told here"
	case l.told[in] > most:
		return
	}
	l.problems = append(l.problems, placed{l.number, p})
}

// warn reports what is about no server.
func (l *loader) warn(at int, key, format string, args ...any) {
	l.report(l.doc.problem(at, "", key, fmt.Sprintf(format, args...), false))
}

func (l *loader) load() {
	src := l.source
	data := src.JSON
	l.folder, l.lists, l.asked, l.limits, l.count = "", serverLists{}, nil, limitsOf(src.Scope), 0
	if data == nil || filepath.IsAbs(src.Path) {
		l.folder = filepath.Dir(src.Path)
	}
	if data == nil {
		var err error
		if data, err = ReadFile(src.Path, src.Scope); err != nil {
			l.report(Problem{File: src.Path, Message: "cannot be read: " + why(err), Fatal: true})
			return
		}
	}
	if len(data) > l.limits.bytes {
		l.report(Problem{File: src.Path, Message: "cannot be read: " + l.limits.tooLarge().Error(), Fatal: true})
		return
	}
	if l.again = isClaudeJSON(src.Path) && slices.Contains(l.shared, src.Path); !l.again {
		l.shared = append(l.shared, src.Path)
	}
	dialect := src.Dialect
	if dialect == "" {
		dialect = dialectOfFile(src.Path)
	} else if dialects[dialect] == nil {
		l.report(Problem{File: src.Path, Message: "cannot be read: " + quote(dialect) + " is no dialect", Fatal: true})
		return
	}
	read := parse
	if isTOML(src, dialect, data) {
		read = parseTOML
	}
	doc, problem := read(src.Path, data)
	if l.doc = doc; problem != nil {
		if !l.again {
			l.report(*problem)
		}
		return
	}
	if l.layout != nil {
		l.layout.Root, l.layout.Text, l.layout.Expressions = doc.root.v, doc.text, doc.expressions
	}
	root, ok := doc.root.object()
	if !ok {
		l.report(doc.problem(doc.root.at(), "", "", "the file must hold a JSON object with "+wanted(dialect, "or"), true))
		return
	}
	l.file(root, dialect)
}

// isTOML reports whether a text is TOML. Codex uses TOML, but a host may pass its settings as JSON. No TOML text begins
// with a brace.
func isTOML(src Source, dialect string, data []byte) bool {
	if strings.EqualFold(filepath.Ext(src.Path), ".toml") {
		return true
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
	return dialect == DialectCodex && !bytes.HasPrefix(text, []byte("{"))
}

// wanted returns the keys that hold servers, for messages.
func wanted(dialect, and string) string {
	if settingsOf[dialect] {
		return fmt.Sprintf("%q", holder(dialect))
	}
	return fmt.Sprintf("%q %s %q", "mcpServers", and, "servers")
}

func (l *loader) file(root []member, dialect string) {
	in := level{members: l.distinct(root, "", "")}
	projects := isClaudeJSON(l.source.Path)
	if l.again {
		l.projects(in.members)
		return
	}
	l.ownSettings(in.members)
	settings := projects || settingsOf[dialect]
	if ways := wrapped(l.source.Path); ways != nil {
		in, settings = l.unwrap(in.members, ways), true
	} else if settingsOfVSCode(in.members, dialect) {
		in, dialect = l.unwrap(in.members, [][]string{{}}), DialectVSCode
	}
	members := in.members
	held := make([]string, len(members)) // the dialect of the servers below a top-level key
	var holders []string
	inVSCode := false
	for i, m := range members {
		if held[i] = dialectOfHolder(m, dialect, settings); held[i] == "" || m.name == "mcp" && len(holders) > 0 {
			held[i] = ""
			continue
		}
		holders = append(holders, m.name)
		inVSCode = inVSCode || held[i] == DialectVSCode
		if held[i] == DialectGemini {
			l.lists = l.serverLists(members)
		}
	}
	if len(holders) == 0 && !settings && find(root, ownKey) == nil {
		l.warn(l.doc.root.at(), "", "no servers: the file has neither %s%s", wanted(dialect, "nor"), bare(members, dialect))
		return
	}
	l.besides(in, dialect, inVSCode)
	for i, m := range members {
		if held[i] == "" {
			continue // other top-level keys belong to the application whose file this is
		}
		if len(holders) == 2 && m.name == holders[1] {
			l.warn(m.at, m.name, "the file has both %q and %q; both are read", holders[0], m.name)
		} else if held[i] == DialectVSCode && m.name == "mcpServers" {
			l.warn(m.at, m.name, `VS Code itself reads "servers" here, and not this`)
		}
		l.servers(m, held[i], path(in.key, m.name), pointer(in.pointer, m.name))
	}
	// The servers of one folder take precedence over those of all folders, wherever in the file they are.
	if projects {
		l.projects(members)
	}
}

// bare returns a hint for a file without servers, which may have its entries in the wrong place.
func bare(members []member, dialect string) string {
	if find(members, "command") != nil || find(members, "url") != nil && len(members) <= 4 {
		return fmt.Sprintf("; what looks like a server belongs into %q, under a name", holder(dialect))
	}
	for _, m := range members {
		inner, _ := m.value.object()
		if find(inner, "command") != nil || find(inner, "url") != nil {
			return fmt.Sprintf("; what looks like a server belongs into %q", holder(dialect))
		}
	}
	return ""
}

// besides reads what a file says about its servers outside their entries.
func (l *loader) besides(in level, dialect string, inVSCode bool) {
	for _, m := range in.members {
		switch {
		case m.value.isNull():
		case m.name == "inputs" && inVSCode:
			l.asked = l.inputs(m.value, l.origin(m, DialectVSCode, pointer(in.pointer, m.name)))
		case m.name == "inputs" && dialect == "":
			l.warn(m.at, m.name, `is only for files of VS Code, whose servers are in "servers", and was ignored`)
		case m.name == "sandbox" && inVSCode:
			l.warn(m.at, m.name, "is ignored: the hub has no sandbox")
		}
	}
}

// servers reads all entries below a key. at is the JSON pointer to the key.
func (l *loader) servers(m member, dialect, key, at string) {
	if m.value.isNull() {
		return
	}
	servers, ok := m.value.object()
	if !ok {
		l.report(l.doc.problem(m.value.at(), "", key, "must be an object of servers, is "+m.value.kind(), true))
		return
	}
	// Since version 2, opencode has its servers one level deeper.
	if dialect == DialectOpencode && len(servers) > 0 {
		if i := deeper(servers); i >= 0 {
			m, key, at = servers[i], path(key, "servers"), pointer(at, "servers")
			servers, _ = m.value.object()
		}
	}
	if l.layout != nil {
		l.layout.Holders = append(l.layout.Holders, Holder{Pointer: at, Dialect: dialect, Line: l.doc.line(m.at)})
	}
	for _, s := range l.distinct(servers, "", key) {
		if _, isText := s.value.str(); isText && isRemark(s.name) {
			continue
		}
		if !l.room(s, key) {
			return
		}
		origin := l.origin(s, dialect, pointer(at, s.name))
		if l.layout != nil {
			l.layout.Spots = append(l.layout.Spots, Spot{Name: s.name, Origin: origin})
		}
		l.server(s, dialects[dialect], origin)
	}
}

// deeper returns the index of the member "servers" that holds the servers, or -1: its members are objects, while those
// of a server of this name would include a text or a list.
func deeper(servers []member) int {
	for i, s := range servers {
		inner, isObject := s.value.object()
		if s.name != "servers" || !isObject {
			continue
		}
		for _, m := range inner {
			if _, ok := m.value.object(); !ok {
				return -1
			}
		}
		return i
	}
	return -1
}

func (l *loader) origin(m member, dialect, at string) Origin {
	src := l.source
	return Origin{File: src.Path, Line: l.doc.line(m.at), Pointer: at, Dialect: dialect, Scope: src.Scope,
		Folder: src.Folder, Trusted: src.Trusted}
}

// distinct returns the last member of each name, as JSON readers do, and reports the names that occur more than once.
func (l *loader) distinct(members []member, server, key string) []member {
	lastAt := make(map[string]int, len(members))
	for i, m := range members {
		lastAt[m.name] = i
	}
	if len(lastAt) == len(members) {
		return members
	}
	var out []member
	for i, m := range members {
		if last := lastAt[m.name]; last != i {
			l.report(l.doc.problem(m.at, server, path(key, m.name),
				fmt.Sprintf("comes again in line %d; this one is ignored", l.doc.line(members[last].at)), false))
			continue
		}
		out = append(out, m)
	}
	return out
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer appends a name to a JSON pointer (RFC 6901, section 3).
func pointer(outer, inner string) string {
	if strings.ContainsAny(inner, "~/") {
		inner = pointerEscapes.Replace(inner)
	}
	return outer + "/" + inner
}

func path(outer, inner string) string {
	if outer == "" {
		return inner
	}
	return outer + "." + inner
}

// server reads one entry, and keeps it if it is usable.
func (l *loader) server(m member, d *dialect, origin Origin) {
	if why := CheckName(m.name); why != "" {
		l.report(l.doc.problem(m.at, cut(m.name, maxName), "", why, true))
		return
	}
	r := entryReader{reader: reader{loader: l, server: m.name}, dialect: d}
	r.read(m)
	if r.broken || r.skipped {
		return
	}
	r.s.Name, r.s.Origin = m.name, origin
	if l.leaveOut != nil {
		if why := l.leaveOut(r.s); why != "" {
			l.report(l.doc.problem(m.at, m.name, "", "is left out: "+why, false))
			return
		}
	}
	for _, in := range l.asked {
		if r.mentioned[in.ID] {
			r.s.Inputs = append(r.s.Inputs, in)
		}
	}
	_, column := l.doc.position(m.at)
	l.entries = append(l.entries, entry{server: r.s, number: l.number, column: column})
}

// Load reads all sources. It never fails as a whole: what cannot be used is reported in problems, and the rest is
// returned. The order is that of the sources, and within a source that of the file. Of several servers of one name, one
// counts, at its own place: an entry of a workspace before one of the user, else the later one. A broken entry replaces
// no good one.
//
// Load has no state; it may be called concurrently.
func Load(sources []Source) (servers []Server, problems []Problem) {
	c := Read(sources)
	return c.Servers, c.Problems
}

// Contents is the content of all sources.
type Contents struct {
	Servers []Server // one for each name: the one that counts
	// Profiles are sorted by name. Of two profiles of one name the later one counts. Profiles of a workspace are not read,
	// because they could remove approvals.
	Profiles []Profile
	Problems []Problem
}

// Read is like Load, and returns the profiles, too.
func Read(sources []Source) Contents { return ReadWithout(nil, sources) }

// ReadWithout is like Read, but as if the sources had no entry for which leaveOut returns a reason. The reason becomes
// a problem of the entry. Another entry of the same name is not affected.
func ReadWithout(leaveOut func(Server) (why string), sources []Source) Contents {
	l := read(sources, leaveOut)
	c := Contents{Problems: ordered(l.problems)}
	for _, e := range l.entries {
		if e.server.ShadowedBy == nil {
			c.Servers = append(c.Servers, e.server)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.profiles)) {
		c.Profiles = append(c.Profiles, l.profiles[name])
	}
	return c
}

// All is like Load, and also returns the servers that do not count. Their ShadowedBy is the origin of the one that
// does.
func All(sources []Source) (servers []Server, problems []Problem) {
	l := read(sources, nil)
	if len(l.entries) > 0 {
		servers = make([]Server, 0, len(l.entries))
	}
	for _, e := range l.entries {
		servers = append(servers, e.server)
	}
	return servers, ordered(l.problems)
}

// read reads all sources, without the entries for which leaveOut, if it is not nil, returns a reason.
func read(sources []Source, leaveOut func(Server) (why string)) *loader {
	l := &loader{leaveOut: leaveOut}
	for i, src := range sources {
		if src.Scope == "" {
			src.Scope = "workspace" // the scope decides what starts without a question, so the default is the strictest
		}
		l.number, l.source = i, src
		l.load()
	}
	l.switchOff()
	l.refuseAddresses()
	l.shadow()
	l.findNamed()
	return l
}
