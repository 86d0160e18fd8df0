package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

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
	templates := templatesOf(all, &listing{})
	uri := "good:" + strings.Repeat("a", 20_000)
	if at, err := resolve(t.Context(), uri, &listing{}, templates); err != nil || at.server != "good" {
		t.Errorf("it is of %q: %v", at.server, err)
	}
	for text, compiled := range templatesOf(all, templates).compiled {
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
