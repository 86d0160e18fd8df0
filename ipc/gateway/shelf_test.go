package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/faketime"
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

func (c *counted) KnownRest(context.Context, string) (*hub.Rest, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return &hub.Rest{}, nil
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

func (l *listed) KnownRest(ctx context.Context, name string) (*hub.Rest, error) {
	_, _ = l.counted.KnownRest(ctx, name)
	<-l.hold
	l.mu.Lock()
	defer l.mu.Unlock()
	return &hub.Rest{Ready: l.ready}, nil
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

// down is a hub of one server that counts its starts, which fail until up is set.
type down struct {
	catalog
	up     atomic.Bool
	starts atomic.Int32
}

func newDown() *down {
	return &down{catalog: catalog{order: []string{"s"}, tools: map[string][]string{},
		rest: map[string]*hub.Rest{}}}
}

func (d *down) Tools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error) {
	d.starts.Add(1)
	if !d.up.Load() {
		return nil, map[string]*event.Error{"s": event.Fail(event.CodeUnavailable, event.ReasonServerFailed, nil, "no")}, nil
	}
	d.offer("s", []string{"t"}, restOf("s", "x://y", "x://{z}", "p"))
	return d.KnownTools(ctx, server)
}

func (d *down) KnownRest(ctx context.Context, server string) (*hub.Rest, error) {
	rest, _ := d.catalog.KnownRest(ctx, server)
	if len(rest.Prompts) == 0 {
		rest = nil
	}
	return rest, nil
}

// TestServerThatIsDownIsTriedAgain (finding F5): a server whose first start fails is started again after delays that
// grow, as long as a client is there; when a client asks for a list, at once if it is due; and at once when something
// names it, but not more often than once a second. When it has come, its lists are known and clients are told.
func TestServerThatIsDownIsTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		comes func(t *testing.T, s *shelf, hub *down, gone func()) // how it is found out that the server is up
	}{
		{"by itself", func(_ *testing.T, _ *shelf, hub *down, gone func()) {
			hub.up.Store(true)
			faketime.Pass(retryMost + 2*time.Second)
		}},
		{"by the name of a tool", func(t *testing.T, s *shelf, hub *down, gone func()) {
			<-time.After(2 * time.Second)
			_, err := s.tool(t.Context(), "s__t")
			if err == nil || !strings.Contains(err.Error(), `what server "s" offers: no`) {
				t.Errorf("to who calls: %v", err)
			}
			before := hub.starts.Load()
			if _, err := s.tool(t.Context(), "s__t"); err == nil || hub.starts.Load() != before {
				t.Errorf("called twice at once: %v, started %d times more", err, hub.starts.Load()-before)
			}
			hub.up.Store(true)
			<-time.After(time.Second)
			if at, err := s.tool(t.Context(), "s__t"); err != nil || at.server != "s" {
				t.Errorf("when it is up: %v", err)
			}
		}},
		{"by the name of a prompt", func(t *testing.T, s *shelf, hub *down, gone func()) {
			hub.up.Store(true)
			if at, err := s.prompt(t.Context(), "s__p"); err != nil || at.server != "s" {
				t.Errorf("when it is up: %v", err)
			}
		}},
		{"by a list, after no client was there", func(t *testing.T, s *shelf, hub *down, gone func()) {
			gone()
			<-time.After(time.Hour)
			before := hub.starts.Load()
			<-time.After(time.Hour)
			if hub.starts.Load() != before {
				t.Errorf("without a client it was started %d times", hub.starts.Load()-before)
			}
			hub.up.Store(true)
			s.giveTools(t.Context())
			synctest.Wait()
		}},
		{"by its connection", func(t *testing.T, s *shelf, hub *down, gone func()) {
			hub.up.Store(true)
			hub.offer("s", []string{"t"}, restOf("s", "x://y", "x://{z}", "p"))
			s.see(t.Context(), event.ServerInfo{Name: "s", State: event.ServerReady, Ready: time.Now()}, false)
			synctest.Wait()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(t.Context())
				hub := newDown()
				var mu sync.Mutex // guards told and changed: who asks by name, and who learns, may tell at once
				told := ""
				var changed changes
				s := newShelf(hub, &Options{Tools: ToolsAll, Trouble: func(server string, e *event.Error) {
					mu.Lock()
					defer mu.Unlock()
					told += server + ": " + e.Message
				}}, nil, func(c changes) {
					mu.Lock()
					defer mu.Unlock()
					changed.add(c)
				})
				var present atomic.Bool
				present.Store(true)
				s.present = present.Load
				s.start(ctx, []event.ServerInfo{{Name: "s"}})
				s.giveTools(ctx)
				s.give(ctx, 0)
				s.give(ctx, 2)
				<-time.After(time.Hour)
				synctest.Wait()
				if told != "s: no" {
					t.Errorf("told %q", told)
				}
				// 0, 2, 6, 14, 30, 62, 126 and 254 s, and then every five minutes
				if hub.starts.Load() < 17 || hub.starts.Load() > 20 {
					t.Errorf("it was started %d times in an hour", hub.starts.Load())
				}
				s.news(ctx, changed)
				changed = changes{}
				tt.comes(t, s, hub, func() { present.Store(false) })
				synctest.Wait() // what is told may come after what was asked for
				if news := s.news(ctx, changed); !news.tools || !news.prompts || !news.resources {
					t.Errorf("clients are told %+v", news)
				}
				if at, err := s.resource(ctx, "x://y"); err != nil || at.server != "s" {
					t.Errorf("its resource: %v", err)
				}
				starts := hub.starts.Load()
				<-time.After(time.Hour)
				if hub.starts.Load() != starts {
					t.Errorf("it was started %d times more", hub.starts.Load()-starts)
				}
				end(errors.New("the test is over"))
				s.close()
			})
		})
	}
}

// slow is a hub whose server takes a minute from the start of the test to its lists.
type slow struct{ *down }

func (h slow) Tools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error) {
	select {
	case <-time.After(time.Until(began.Add(time.Minute))):
		return h.down.Tools(ctx, server)
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// began is when time begins in a bubble.
var began = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestCallOfAServerThatStarts: lists do not wait for a server that takes long to start. A call that names it does, and
// so does a prompt; a name that it turns out not to have is unknown. A caller that goes does not wait.
func TestCallOfAServerThatStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := slow{newDown()}
		hub.up.Store(true)
		s := newShelf(hub, &Options{Tools: ToolsAll}, nil, func(changes) {})
		ctx, end := context.WithCancelCause(t.Context())
		s.start(ctx, []event.ServerInfo{{Name: "s"}})
		if listed := s.giveTools(ctx); len(listed.names) != 0 || time.Since(began) >= time.Minute {
			t.Errorf("after %v these are listed: %v", time.Since(began), listed.names)
		}
		var all sync.WaitGroup
		all.Go(func() {
			if at, err := s.tool(ctx, "s__t"); err != nil || at.server != "s" {
				t.Errorf("its tool: %v", err)
			}
		})
		all.Go(func() {
			if at, err := s.prompt(ctx, "s__p"); err != nil || at.server != "s" {
				t.Errorf("its prompt: %v", err)
			}
		})
		all.Go(func() {
			if _, err := s.tool(ctx, "s__none"); err == nil || time.Since(began) < time.Minute {
				t.Errorf("a tool that it has not, after %v: %v", time.Since(began), err)
			}
		})
		all.Go(func() {
			if _, err := s.tool(ctx, "other__t"); err == nil || time.Since(began) >= time.Minute {
				t.Errorf("a tool of nobody, after %v: %v", time.Since(began), err)
			}
		})
		all.Go(func() {
			short, stop := context.WithTimeoutCause(ctx, 15*time.Second, errors.New("the caller has gone"))
			defer stop()
			if _, err := s.tool(short, "s__t"); err == nil || time.Since(began) >= time.Minute {
				t.Errorf("to a caller that has gone, after %v: %v", time.Since(began), err)
			}
		})
		all.Wait()
		end(errors.New("the test is over"))
		s.close()
	})
}

// TestServerThatWaitsForPeopleIsNotTriedAgain: where a person has to agree first, only a call asks again. A server that
// is removed is not tried again either.
func TestServerThatWaitsForPeopleIsNotTriedAgain(t *testing.T) {
	for name, reason := range map[string]string{"a person": event.ReasonLaunchDeclined,
		"removed": event.ReasonServerFailed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancelCause(t.Context())
				hub := &refusing{reason: reason}
				s := newShelf(hub, &Options{Tools: ToolsAll, Trouble: func(string, *event.Error) {}}, nil, func(changes) {})
				s.start(ctx, []event.ServerInfo{{Name: "s"}})
				synctest.Wait()
				if name == "removed" {
					s.drop("s")
				}
				<-time.After(time.Hour)
				if hub.starts.Load() != 1 {
					t.Errorf("it was started %d times", hub.starts.Load())
				}
				_, _ = s.tool(ctx, "s__t")
				if want := map[string]int32{"a person": 2, "removed": 1}[name]; hub.starts.Load() != want {
					t.Errorf("with a call it was started %d times, want %d", hub.starts.Load(), want)
				}
				end(errors.New("the test is over"))
				s.close()
			})
		})
	}
}

// refusing is a hub of one server whose starts fail for a reason.
type refusing struct {
	catalog
	reason string
	starts atomic.Int32
}

func (r *refusing) Tools(context.Context, string) ([]event.ToolInfo, map[string]*event.Error, error) {
	r.starts.Add(1)
	return nil, map[string]*event.Error{"s": event.Fail(event.CodeUnavailable, r.reason, nil, "no")}, nil
}

func (*refusing) KnownRest(context.Context, string) (*hub.Rest, error) { return nil, nil }

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
