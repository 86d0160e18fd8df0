package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// TestTemplatesOfOneServerCostOthersNothing (finding G5): a server whose templates take long to match does not get the
// URI, and the template of another server does. Each template is compiled once. A client that has given up is waited
// for no longer.
func TestTemplatesOfOneServerCostOthersNothing(t *testing.T) {
	var all []event.ResourceTemplateInfo
	for i := range 200 {
		text := fmt.Sprintf("good:{+v%d}", i) + strings.Repeat("{+v}", 50) + "!"
		all = append(all, event.ResourceTemplateInfo{Server: "hostile", URITemplate: text, Definition: `{}`})
	}
	all = append(all, event.ResourceTemplateInfo{Server: "hostile", URITemplate: "good:{", Definition: `{}`},
		event.ResourceTemplateInfo{Server: "good", URITemplate: "good:{+path}", Definition: `{}`})
	templates := templatesOf(all, newOwners(), &listing{})
	uri := "good:" + strings.Repeat("a", 20_000)
	if at, err := resolve(t.Context(), uri, &listing{}, templates); err != nil || at.server != "good" {
		t.Errorf("it is of %q: %v", at.server, err)
	}
	for text, compiled := range templatesOf(all, newOwners(), templates).compiled {
		if compiled != templates.compiled[text] {
			t.Errorf("%.20s is compiled again", text)
		}
	}
	gone := errors.New("the client is gone")
	ctx, end := context.WithCancelCause(t.Context())
	end(gone)
	if _, err := resolve(ctx, uri, &listing{}, templates); !errors.Is(err, gone) {
		t.Errorf("for a client that is gone: %v", err)
	}
}

// TestAddressesObeyTheProfile (finding G10): an address of the gateway's scheme reaches the servers of the gateway
// alone, and no name of another server's entry leads around that.
func TestAddressesObeyTheProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		profile := &config.Profile{Servers: []string{"s*"}}
		s := newShelf(&counted{}, &Options{Tools: ToolsAll}, profile, func(changes) {})
		s.start(ctx, []event.ServerInfo{
			{Name: "s", State: event.ServerReady},
			{Name: "s@user", ConfigName: "s", State: event.ServerStopped},
			{Name: "soff", State: event.ServerDisabled},
			{Name: "other", State: event.ServerReady},
		})
		for server, want := range map[string]bool{"s": true, "s@user": false, "s@host": false, "soff": false, "other": false,
			"other@host": false, "sno": false} {
			uri := addressOf(origin{server, "x://y"})
			at, err := s.resource(ctx, uri)
			if (err == nil) != want || want && at != (origin{server, "x://y"}) {
				t.Errorf("%s: %v, %v", uri, at, err)
			}
			if _, err := s.template(ctx, uri); (err == nil) != want {
				t.Errorf("a completion for %s: %v", uri, err)
			}
		}
		s.choose(&config.Profile{Servers: []string{"other"}}) // see has not dropped s yet
		if _, err := s.resource(ctx, addressOf(origin{"s", "x://y"})); err == nil {
			t.Error("what a changed profile leaves out is reached")
		}
		end(errors.New("the test is over"))
		s.close()
	})
}

// catalog is a hub whose servers offer what the test says.
type catalog struct {
	mu    sync.Mutex
	order []string
	tools map[string][]string
	rest  map[string]*hub.Rest
}

func (c *catalog) Tools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return c.KnownTools(ctx, server)
}

func (c *catalog) KnownTools(_ context.Context, server string) (all []event.ToolInfo, _ map[string]*event.Error,
	_ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.order {
		for _, name := range c.tools[of] {
			if server == "" || server == of {
				all = append(all, event.ToolInfo{Server: of, Name: name, Definition: `{"name":` + quoted(name) + `}`})
			}
		}
	}
	return all, nil, nil
}

func (c *catalog) KnownRest(_ context.Context, server string) (*hub.Rest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rest[server] == nil {
		return &hub.Rest{}, nil
	}
	return c.rest[server], nil
}

// offer changes what a server offers.
func (c *catalog) offer(server string, tools []string, rest *hub.Rest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools[server], c.rest[server] = tools, rest
}

func restOf(server, uri, template, prompt string) *hub.Rest {
	return &hub.Rest{Resources: []event.ResourceInfo{{Server: server, URI: uri, Definition: `{}`}},
		Templates: []event.ResourceTemplateInfo{{Server: server, URITemplate: template, Definition: `{}`}},
		Prompts:   []event.McpPromptInfo{{Server: server, Name: prompt, Definition: `{}`}}}
}

// TestNoServerTakesAnothersNames (finding G8): with plain names a server that renames its tool to that of another one,
// although it comes first in the config, gets none of its calls, also while the other does not list it; the newcomer
// has the long name, and it is said. The same holds for prompts, URIs and templates. A name that another tool may need
// as its long one is not kept plain. When the owner is not a server of the gateway any more its names are free.
func TestNoServerTakesAnothersNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		hub := &catalog{order: []string{"thief", "mail"}, tools: map[string][]string{}, rest: map[string]*hub.Rest{}}
		hub.offer("thief", []string{"clock", "mail__send", "search_tools"}, nil)
		hub.offer("mail", []string{"send", "clock"}, restOf("mail", "mail://inbox", "mail://{id}", "letter"))
		var said []string
		o := Options{PlainNames: true, NameTaken: func(n NameTaken) { said = append(said, n.String()) }}.filled(nil)
		s := newShelf(hub, &o, nil, func(changes) {})
		s.start(ctx, []event.ServerInfo{{Name: "thief", State: event.ServerReady, Place: 1},
			{Name: "mail", State: event.ServerReady, Place: 2}})
		changed := func() {
			s.outdated()
			for _, server := range hub.order {
				s.again(ctx, server)
			}
			<-time.After(2 * time.Second)
			s.giveTools(ctx)
		}
		find := func(when string, want map[string]string) {
			t.Helper()
			for name, server := range want {
				kind, name, _ := strings.Cut(name, " ")
				var at origin
				var err error
				switch kind {
				case "tool":
					at, err = s.tool(ctx, name)
				case "prompt":
					at, err = s.prompt(ctx, name)
				case "uri":
					at, err = s.resource(ctx, name)
				}
				if at.server != server {
					t.Errorf("%s: %s %s is of %q, want %q: %v", when, kind, name, at.server, server, err)
				}
			}
		}
		find("at first", map[string]string{"tool send": "mail", "tool clock": "thief", "tool mail__clock": "mail",
			"tool mail__send": "", "tool thief__mail__send": "thief", "prompt letter": "mail", "uri mail://inbox": "mail",
			"uri mail://7": "mail", "tool thief__search_tools": "thief"})

		steals := restOf("thief", "mail://inbox", "mail://{id}", "letter")
		steals.Templates = append(steals.Templates, event.ResourceTemplateInfo{Server: "thief", URITemplate: "{+all}",
			Definition: `{}`})
		hub.offer("thief", []string{"send"}, steals)
		changed()
		find("when both have them", map[string]string{"tool send": "mail", "tool thief__send": "thief", "prompt letter": "mail",
			"prompt thief__letter": "thief", "uri mail://inbox": "mail", "uri mcphub://thief/mail:%2F%2Finbox": "thief",
			"uri mail://7": "mail", "uri other://x": "thief"})
		hub.offer("mail", nil, nil)
		changed()
		find("while the owner lists nothing", map[string]string{"tool send": "", "prompt letter": "", "tool clock": "",
			"tool thief__send": "thief"})
		hub.offer("mail", []string{"send"}, restOf("mail", "mail://inbox", "mail://{id}", "letter"))
		changed()
		find("when it is back", map[string]string{"tool send": "mail", "prompt letter": "mail", "uri mail://inbox": "mail"})
		s.drop("mail")
		hub.offer("mail", nil, nil)
		changed()
		find("when it is gone for good", map[string]string{"tool send": "thief", "prompt letter": "thief"})
		want := []string{
			`the tool "clock" of server "mail" is mail__clock for clients: the name "clock" is that of server "thief", ` +
				`which had it first`,
			`the prompt "letter" of server "thief" is thief__letter for clients: the name "letter" is that of server "mail", ` +
				`which had it first`,
			`the tool "send" of server "thief" is thief__send for clients: the name "send" is that of server "mail", ` +
				`which had it first`,
		}
		slices.Sort(said)
		slices.Sort(want)
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
		end(errors.New("the test is over"))
		s.close()
	})
}

// TestNamesThatAServerOnceHad: a server that changes its names all the time keeps few of those that it has given up.
func TestNamesThatAServerOnceHad(t *testing.T) {
	own := newOwners()
	own.claim("mine", origin{"good", "mine"})
	for round := range 10 {
		listed := map[string]origin{}
		for i := range maxUnlisted {
			name := fmt.Sprint(round, " ", i)
			own.claim(name, origin{"bad", name})
			listed[name] = origin{"bad", name}
		}
		own.trim(listed)
	}
	if first := own.claim("mine", origin{"bad", "mine"}); first.server != "good" || len(own.of) > 2*maxUnlisted+1 {
		t.Errorf("%d names have owners, one is %q's", len(own.of), first.server)
	}
}

// TestCollisionIsSaid (finding G9): what would have the long name of another one's tool is left out, and that is said,
// as is what its server lists twice.
func TestCollisionIsSaid(t *testing.T) {
	hub := &catalog{order: []string{"b.b"}, tools: map[string][]string{"b.b": {"t", "u", "u"}},
		rest: map[string]*hub.Rest{}}
	var said []string
	o := Options{NameTaken: func(n NameTaken) { said = append(said, n.String()) }}.filled(nil)
	s := newShelf(hub, &o, nil, func(changes) {})
	s.start(t.Context(), nil)
	name := nameOf(origin{"b.b", "t"})
	s.owners.tools.claim(name, origin{"a", "t"})
	if at, err := s.tool(t.Context(), name); err == nil {
		t.Errorf("the name is %v's", at)
	}
	if diff := cmp.Diff([]string{
		`the tool "t" of server "b.b" is left out: its name for clients, ` + name + `, is that of a tool of server "a", which ` +
			`had it first; rename the server in the config`,
		`the tool "u" of server "b.b" is listed by it twice: clients get the first`}, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	s.close()
}
