package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/offers"
)

// counted is a hub of one server that counts how often it was asked for the server's lists.
type counted struct {
	mu    sync.Mutex
	asked int
}

func (*counted) Tools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return nil, nil, nil
}

func (*counted) KnownTools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return []event.ToolInfo{{Server: "s", Name: "t", Definition: `{"name":"t"}`}}, nil, nil
}

func (c *counted) KnownRest(context.Context, string) (*offers.Rest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return &offers.Rest{}, nil
}

// panels is a hub whose server has a tool that is for its views only.
type panels struct{ counted }

func (*panels) KnownTools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return []event.ToolInfo{{Server: "s", Name: "t", Definition: `{"name":"t"}`},
		{Server: "s", Name: "refresh", Definition: `{"name":"refresh"}`, HiddenFromModels: true}}, nil, nil
}

// TestToolsForViewsAreNoClients: a tool that is for views only is neither listed nor found by its name, in any mode of
// Options.Tools.
func TestToolsForViewsAreNoClients(t *testing.T) {
	for _, mode := range []string{ToolsAll, ToolsSearch} {
		s := newShelf(&panels{}, &Options{Tools: mode}, nil, func(changes) {})
		s.start(t.Context(), nil)
		if list := s.toolList(t.Context()); strings.Contains(string(list.entries), "refresh") {
			t.Errorf("%s: listed %s", mode, list.entries)
		}
		if _, err := s.tool(t.Context(), "s__t"); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		if _, err := s.tool(t.Context(), "s__refresh"); err == nil {
			t.Errorf("%s: a client can call a tool that is for views", mode)
		}
		s.close()
	}
}

// TestServerThatAlwaysChangesIsAskedAtPace: a server that reports changes of its lists all the time is asked for them
// once a second.
func TestServerThatAlwaysChangesIsAskedAtPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		hub := &counted{}
		s := newShelf(hub, &Options{Tools: ToolsAll}, nil, func(changes) {})
		s.start(ctx, []event.ServerInfo{{Name: "s", State: event.ServerReady}})
		for range 10_000 { // in ten seconds
			s.again(ctx, "s")
			<-time.After(time.Millisecond)
		}
		<-time.After(2 * time.Second)
		if hub.asked < 10 || hub.asked > 13 {
			t.Errorf("it was asked %d times", hub.asked)
		}
		end(errors.New("the test is over"))
		s.close()
	})
}

// listed is a hub that gives a server's lists when hold is closed, with ready as the time since when the server's
// connection is ready.
type listed struct {
	counted
	ready time.Time
	hold  chan struct{}
}

func (l *listed) KnownRest(ctx context.Context, name string) (*offers.Rest, error) {
	_, _ = l.counted.KnownRest(ctx, name)
	<-l.hold
	l.mu.Lock()
	defer l.mu.Unlock()
	return &offers.Rest{Ready: l.ready}, nil
}

// TestListsOfAConnectionAreAskedForOnce: the event that a server is connected may come while, or after, its lists are
// asked for on that connection; then they are not asked for again. On another connection they are.
func TestListsOfAConnectionAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		defer end(errors.New("the test is over"))
		at := time.Now()
		hub := &listed{ready: at, hold: make(chan struct{})}
		s := newShelf(hub, &Options{Tools: ToolsAll}, nil, func(changes) {})
		s.start(ctx, []event.ServerInfo{{Name: "s", State: event.ServerConnecting}})
		sees := func(state event.ServerState, ready time.Time) {
			s.see(ctx, event.ServerInfo{Name: "s", State: state, Ready: ready}, false)
			<-time.After(2 * time.Second)
		}
		asked := func(when string, want int) {
			t.Helper()
			hub.mu.Lock()
			defer hub.mu.Unlock()
			if hub.asked != want {
				t.Errorf("%s: asked %d times, want %d", when, hub.asked, want)
			}
		}
		sees(event.ServerReady, at)
		close(hub.hold)
		<-time.After(2 * time.Second)
		asked("told while it lists", 1)
		sees(event.ServerStopped, time.Time{})
		sees(event.ServerReady, at)
		asked("told again", 1)
		hub.mu.Lock()
		hub.ready = at.Add(time.Minute)
		hub.mu.Unlock()
		sees(event.ServerStopped, time.Time{})
		sees(event.ServerReady, at.Add(time.Minute))
		asked("another connection", 2)
		end(errors.New("the test is over"))
		s.close()
	})
}

// TestBesideIsNotOfTheGateway: a server that is listed beside another entry of its name is neither asked nor listed by
// the gateway, also when it has had the name by itself before.
func TestBesideIsNotOfTheGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		hub := &counted{}
		s := newShelf(hub, &Options{Tools: ToolsAll}, nil, func(changes) {})
		beside := event.ServerInfo{Name: "s@user", ConfigName: "s", State: event.ServerReady}
		s.start(ctx, []event.ServerInfo{beside})
		synctest.Wait()
		if hub.asked != 0 || len(s.servers) != 0 {
			t.Errorf("asked %d times, %d servers", hub.asked, len(s.servers))
		}
		s.see(ctx, event.ServerInfo{Name: "s@user", ConfigName: "s@user", State: event.ServerReady}, false)
		synctest.Wait()
		if hub.asked == 0 || len(s.servers) != 1 {
			t.Errorf("a server that is called so: asked %d times, %d servers", hub.asked, len(s.servers))
		}
		if s.see(ctx, beside, false); len(s.servers) != 0 {
			t.Error("it stays listed")
		}
		end(errors.New("the test is over"))
		s.close()
	})
}

// failing is a counted that knows no tools of the server, and whose first start fails.
type failing struct {
	counted
	starts int
}

func (f *failing) Tools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	if f.starts++; f.starts == 1 {
		return nil, map[string]*event.Error{"s": event.Fail(event.CodeUnavailable, event.ReasonServerFailed, nil, "no")}, nil
	}
	return nil, nil, nil
}

func (*failing) KnownTools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return nil, nil, nil
}

// TestServerThatComesUpLaterIsListed: a failed start is reported, also to a client that calls a tool of the server, and
// the server is asked for its lists when it is up. If its start succeeded, it is not asked twice.
func TestServerThatComesUpLaterIsListed(t *testing.T) {
	for name, tt := range map[string]struct {
		before int // starts so far; only the first of all fails
		want   int // how often it is asked for its lists
	}{"failed": {0, 2}, "started": {1, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(t.Context())
				hub := &failing{starts: tt.before}
				told := ""
				s := newShelf(hub, &Options{Tools: ToolsAll, Trouble: func(server string, e *event.Error) {
					told += server + ": " + e.Message
				}}, nil, func(changes) {})
				s.start(ctx, []event.ServerInfo{{Name: "s"}})
				<-time.After(2 * time.Second)
				want := map[string]string{"failed": "s: no"}[name]
				_, err := s.tool(ctx, "s__t")
				if err == nil || strings.Contains(err.Error(), `which tools server "s" has: no`) != (want != "") || told != want {
					t.Errorf("told %q, and to who calls: %v", told, err)
				}
				s.see(ctx, event.ServerInfo{Name: "s", State: event.ServerReady}, false)
				<-time.After(2 * time.Second)
				if hub.asked != tt.want {
					t.Errorf("it was listed %d times, not %d", hub.asked, tt.want)
				}
				end(errors.New("the test is over"))
				s.close()
			})
		})
	}
}

// offering is a hub of one server, whose only tool the test sets.
type offering struct {
	counted
	tool string
}

func (o *offering) KnownTools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return []event.ToolInfo{{Server: "s", Name: o.tool, Definition: `{"name":"` + o.tool + `"}`}}, nil, nil
}

// TestEveryClientIsToldOfAList: a client whose list is old is told so, even if another client has been given the new
// list in between. A change of a list that no client has been given is not reported.
func TestEveryClientIsToldOfAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		hub := &offering{tool: "one"}
		s := newShelf(hub, &Options{Tools: ToolsAll}, nil, func(changes) {})
		s.start(ctx, nil)
		change := func(tool string) {
			hub.tool = tool
			s.outdated()
		}
		news := func() bool { return s.news(ctx, changes{tools: true}).tools }
		change("two")
		if news() {
			t.Error("nobody has a list, and a change of it was told")
		}
		s.giveTools(ctx)
		if news() {
			t.Error("nothing has changed, and it was told")
		}
		change("three")
		s.giveTools(ctx) // another client
		if !news() {
			t.Error("the first client was not told, because a second had the new list")
		}
		change("four")
		s.giveTools(ctx)
		change("three")
		if !news() {
			t.Error("a client has a list of in between, and was not told")
		}
		if news() {
			t.Error("it was told twice")
		}
		end(errors.New("the test is over"))
		s.close()
	})
}
