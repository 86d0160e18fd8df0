package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/toolset"
)

// origin identifies a tool, prompt or resource: its server, and its name or URI there.
type origin struct{ server, name string }

// listing is one list as clients get it, with the origin of each name in it.
type listing struct {
	entries []byte // of the array, with commas
	from    map[string]origin
	schemas map[string]json.RawMessage // input schemas of tools that may want arguments in headers
	names   []string
	taken   []NameTaken // what has another name than it would have, or none
	// Only for templates, by name: the compiled ones; nil for what is no template.
	compiled map[string]*hub.Template
	// Only for tools: the gateway's own tools, the servers that have tools, and, if the list is searched, the definitions
	// and names of the tools that are not in the list.
	own         map[string]bool
	servers     []string
	definitions map[string]json.RawMessage
	named       map[origin]string
}

func (l *listing) add(name string, at origin, definition json.RawMessage) bool {
	if _, taken := l.from[name]; taken {
		return false
	}
	if l.from == nil {
		l.from = map[string]origin{}
	}
	l.from[name] = at
	l.names = append(l.names, name)
	l.show(definition)
	return true
}

// result returns the list as the result of a request. member is the name of the array.
func (l *listing) result(member string) json.RawMessage {
	b := make([]byte, 0, len(l.entries)+len(member)+8)
	b = append(append(append(b, `{"`...), member...), `":[`...)
	return append(append(b, l.entries...), "]}"...)
}

// find returns the origin of a name, or an error that suggests a similar one.
func (l *listing) find(what, name string) (origin, error) {
	if at, ok := l.from[name]; ok {
		return at, nil
	}
	return origin{}, invalid("there is no " + what + " " + quoted(name) + event.Hint(name, l.names))
}

// nameOf returns the name of a tool or prompt for clients. It depends only on the origin.
func nameOf(at origin) string {
	return toolset.Name(toolset.Identity{Server: at.server, Name: at.name}, toolset.GatewayName)
}

// name returns the name under which a tool or prompt is listed. With plain it is the server's own, unless another
// server has had that first, or it has the form of a name that another one may need. ok is false if it gets none.
func (l *listing) name(kind string, own *owners, at origin, plain bool) (name string, ok bool) {
	long := nameOf(at)
	if plain && !toolset.Composed(at.name) {
		first := own.claim(at.name, at)
		if first.origin == at {
			return at.name, l.once(kind, at.name, at)
		}
		l.taken = append(l.taken, NameTaken{Kind: kind, Server: at.server, Name: at.name, Taken: at.name, Owner: first.server,
			Instead: long})
	}
	if first := own.claim(long, at); first.origin != at {
		l.taken = append(l.taken, NameTaken{Kind: kind, Server: at.server, Name: at.name, Taken: long, Owner: first.server})
		return "", false
	}
	return long, l.once(kind, long, at)
}

// once reports whether a name is not in the list yet.
func (l *listing) once(kind, name string, at origin) bool {
	_, twice := l.from[name]
	if twice {
		l.taken = append(l.taken, NameTaken{Kind: kind, Server: at.server, Name: at.name, Taken: name})
	}
	return !twice
}

// toolsOf makes the list of tools.
func (s *shelf) toolsOf(tools []event.ToolInfo) *listing {
	l := &listing{own: map[string]bool{readResult: s.bound}}
	if s.mode != ToolsAll {
		l.definitions, l.named = map[string]json.RawMessage{}, map[origin]string{}
	}
	before := ""
	for _, t := range tools {
		at, definition := origin{t.Server, t.Name}, json.RawMessage(t.Definition)
		if s.bound {
			definition = without(definition, named("outputSchema")) // a result that is shortened has no structured content
		}
		if s.asks && t.Policy == event.PolicyAsk {
			definition = unclaimed(definition)
		}
		name, ok := l.name("tool", s.owners.tools, at, s.plain && !mayBeOwn(t.Name))
		if !ok {
			continue
		}
		if name != t.Name {
			definition = spliced(definition, text("name", name))
		}
		l.add(name, at, definition)
		if before != t.Server {
			before, l.servers = t.Server, append(l.servers, t.Server)
		}
		if s.mode != ToolsAll {
			l.definitions[name], l.named[at] = definition, name
		}
		if strings.Contains(t.Definition, "x-mcp-header") {
			if l.schemas == nil {
				l.schemas = map[string]json.RawMessage{}
			}
			l.schemas[name] = jsontext.Get(definition, "inputSchema")
		}
	}
	s.owners.tools.trim(l.from)
	many := len(l.names) >= manyTools || toolset.Tokens(len(l.entries)) >= manyTokens
	if s.mode == ToolsSearch || s.mode == ToolsAuto && many {
		l.entries = nil
		for _, definition := range searching(l) {
			l.show(definition)
		}
		l.own[searchTools], l.own[describeTool], l.own[callTool] = true, true, true
	} else {
		l.definitions, l.named = nil, nil
	}
	if s.bound {
		l.show(readingOn)
	}
	return l
}

// unclaimed returns the definition of a tool without its claim to be read-only: clients ask nobody before they call a
// tool that claims it.
func unclaimed(definition json.RawMessage) json.RawMessage {
	const hints = "annotations"
	claims := jsontext.Get(definition, hints)
	if jsontext.Get(claims, "readOnlyHint") == nil {
		return definition
	}
	return spliced(definition, member{hints, without(claims, named("readOnlyHint"))})
}

// show appends a definition to the list that clients get.
func (l *listing) show(definition json.RawMessage) {
	if len(l.entries) > 0 {
		l.entries = append(l.entries, ',')
	}
	l.entries = append(l.entries, definition...)
}

// define returns the definition of a tool that is found by search_tools and not in the list.
func (l *listing) define(name string) (json.RawMessage, error) {
	if definition, ok := l.definitions[name]; ok {
		return definition, nil
	}
	_, err := l.find("tool", name)
	return nil, err
}

func promptsOf(prompts []event.McpPromptInfo, own *owners, plain bool) *listing {
	l := &listing{}
	for _, p := range prompts {
		at, definition := origin{p.Server, p.Name}, json.RawMessage(p.Definition)
		name, ok := l.name("prompt", own, at, plain)
		if !ok {
			continue
		}
		if name != p.Name {
			definition = spliced(definition, text("name", name))
		}
		l.add(name, at, definition)
	}
	own.trim(l.from)
	return l
}

// resourcesOf makes the list of resources. URIs are kept. If two servers have the same URI, the first one keeps it, and
// the others get an address (addressOf).
func resourcesOf(resources []event.ResourceInfo, own *owners) *listing {
	l := &listing{}
	for _, r := range resources {
		at, uri, definition := origin{r.Server, r.URI}, r.URI, json.RawMessage(r.Definition)
		if _, twice := l.from[uri]; twice || own.claim(uri, at).origin != at {
			uri = addressOf(at)
			definition = spliced(definition, text("uri", uri))
		}
		l.add(uri, at, definition)
	}
	own.trim(l.from)
	return l
}

// templatesOf makes the list of templates. What before has compiled is not compiled again.
func templatesOf(templates []event.ResourceTemplateInfo, own *owners, before *listing) *listing {
	l := &listing{compiled: make(map[string]*hub.Template, len(templates))}
	since := map[string]uint64{}
	for _, t := range templates {
		// If two servers have the same template, URIs that match it go to the first one. The other server is reached by
		// addresses of the gateway's scheme.
		at := origin{t.Server, t.URITemplate}
		first := own.claim(t.URITemplate, at)
		if first.origin != at || !l.add(t.URITemplate, at, json.RawMessage(t.Definition)) {
			continue
		}
		since[t.URITemplate] = first.since
		compiled, had := before.compiled[t.URITemplate]
		if !had {
			compiled, _ = hub.CompileTemplate(t.URITemplate) // a broken one is listed, as its server wrote it
		}
		l.compiled[t.URITemplate] = compiled
	}
	own.trim(l.from)
	// A URI that matches several goes to the one that came first.
	slices.SortFunc(l.names, func(a, b string) int { return cmp.Compare(since[a], since[b]) })
	return l
}

// scheme is that of addresses that also name the server: mcphub://server/uri, both escaped.
const scheme = "mcphub://"

func addressOf(at origin) string {
	return scheme + url.PathEscape(at.server) + "/" + url.PathEscape(at.name)
}

func ofAddress(uri string) (origin, bool) {
	rest, ours := strings.CutPrefix(uri, scheme)
	server, name, both := strings.Cut(rest, "/")
	server, err1 := url.PathUnescape(server)
	name, err2 := url.PathUnescape(name)
	return origin{server, name}, ours && both && err1 == nil && err2 == nil && server != "" && name != ""
}

// templateWork bounds the work of finding the template of one URI among those of one server: some milliseconds. A
// server that needs more does not get the URI, and the templates of the others are tried all the same.
const templateWork = 1 << 20

// resolve finds the server of a resource: the one that lists it; else one with a template that matches; else the only
// server that has a resource or template with its URI scheme. A URI that could belong to several servers is refused.
func resolve(ctx context.Context, uri string, resources, templates *listing) (origin, error) {
	if at, ours := ofAddress(uri); ours {
		return at, nil
	}
	if at, listed := resources.from[uri]; listed {
		return at, nil
	}
	work := map[string]*int{}
	for _, text := range templates.names {
		if ctx.Err() != nil {
			return origin{}, context.Cause(ctx)
		}
		of, template := templates.from[text].server, templates.compiled[text]
		if template == nil {
			continue
		}
		if work[of] == nil {
			n := templateWork
			work[of] = &n
		}
		if template.Match(uri, work[of]) {
			return origin{of, uri}, nil
		}
	}
	server, several := "", false
	prefix, _, has := strings.Cut(uri, ":")
	for _, l := range []*listing{resources, templates} {
		for _, name := range l.names {
			if has && strings.HasPrefix(name, prefix+":") {
				several = several || server != "" && server != l.from[name].server
				server = l.from[name].server
			}
		}
	}
	switch {
	case several:
		return origin{}, invalid("several servers have resources like " + quoted(uri) + ", and none lists it: ask for " +
			scheme + "SERVER/URI, with the URI percent-encoded")
	case server == "":
		return origin{}, invalid("no server has a resource " + quoted(uri) + event.Hint(uri, resources.names))
	}
	return origin{server, uri}, nil
}

// owners records whose each name of a list is. Whoever had a name first keeps it, also while it does not list it, so
// that no server gets what clients send to a name that they know as another's. All methods are safe for concurrent use.
type owners struct {
	mu    sync.Mutex
	count uint64
	of    map[string]owner
}

type owner struct {
	origin
	since uint64 // a number that grows with each new owner
}

func newOwners() *owners { return &owners{of: map[string]owner{}} }

// maxUnlisted is how many names one server may own that it does not list.
const maxUnlisted = 1000

// claim returns the owner of a name, which is at if nobody had it before.
func (o *owners) claim(name string, at origin) owner {
	o.mu.Lock()
	defer o.mu.Unlock()
	own, taken := o.of[name]
	if !taken {
		o.count++
		own = owner{at, o.count}
		o.of[name] = own
	}
	return own
}

// trim takes from a server that owns too many names that are not in the list those names.
func (o *owners) trim(listed map[string]origin) {
	o.mu.Lock()
	defer o.mu.Unlock()
	unlisted := map[string]int{}
	most := 0
	for name, own := range o.of {
		if listed[name] != own.origin {
			unlisted[own.server]++
			most = max(most, unlisted[own.server])
		}
	}
	if most <= maxUnlisted {
		return
	}
	for name, own := range o.of {
		if unlisted[own.server] > maxUnlisted && listed[name] != own.origin {
			delete(o.of, name)
		}
	}
}

// forget gives up the names of a server that is not the gateway's any more.
func (o *owners) forget(server string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, own := range o.of {
		if own.server == server {
			delete(o.of, name)
		}
	}
}

// NameTaken says that a tool or prompt could not have the name for clients that it would have.
type NameTaken struct {
	Kind         string // "tool" or "prompt"
	Server, Name string // whose it is, and its name there
	Taken        string // the name that it would have
	// Owner is the server whose it is; "" if Server itself lists it twice.
	Owner string
	// Instead is the name that it has in the place of Taken; "" if clients do not get it.
	Instead string
}

// String returns a sentence for people.
func (t NameTaken) String() string {
	what := fmt.Sprintf("the %s %q of server %q", t.Kind, bounds.Printable(t.Name), bounds.Printable(t.Server))
	switch {
	case t.Owner == "":
		return what + " is listed by it twice: clients get the first"
	case t.Instead != "":
		return fmt.Sprintf("%s is %s for clients: the name %q is that of server %q, which had it first", what, t.Instead,
			bounds.Printable(t.Taken), bounds.Printable(t.Owner))
	}
	return fmt.Sprintf("%s is left out: its name for clients, %s, is that of a %s of server %q, which had it first; rename "+
		"the server in the config", what, t.Taken, t.Kind, bounds.Printable(t.Owner))
}
