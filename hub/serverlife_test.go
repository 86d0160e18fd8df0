package hub_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// An entry is removed from the config and comes back while its old process still ends. The windows end up with the new
// server, whose process waits for the end of the old one. Finding B12.
func TestRemovedServerComesBackWhileItStops(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		v := w.everything()
		w.fall("s", &ill{slow: 3 * time.Second}) // its process takes 3 s to end
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		go func() { // the host's reload waits for the stop
			_, _, _,
				_ = w.hub.LoadConfig(t.Context(), []hub.ConfigSource{{Path: "test.json", Scope: "user", JSON: `{"mcpServers":{}}`}})
		}()
		pass(time.Second)
		w.load("s:" + allow)
		if list, _ := w.hub.Servers(); list[0].State != event.ServerStopping {
			t.Errorf("while the old process ends, the new entry is %v", list[0].State)
		}
		start := time.Now()
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		if waited := time.Since(start); waited != 2*time.Second {
			t.Errorf("the call waited %v for the old process", waited)
		}
		pass(10 * time.Second)
		if w.most["s"] != 1 || w.starts("s") != 2 {
			t.Errorf("%d processes were started, up to %d ran at once", w.starts("s"), w.most["s"])
		}
		told(t, w, v)
		var gone, next uint64
		for _, e := range eventsOf[*event.ServerChanged](v) {
			if e.Removed {
				gone = e.Server.Incarnation
			}
			next = e.Server.Incarnation
		}
		if gone == 0 || next <= gone {
			t.Errorf("removed incarnation %d, new incarnation %d; want a higher one", gone, next)
		}
	})
}

// told checks that a window that follows the events, as a page does, knows of each server what the hub says when it is
// asked.
func told(t *testing.T, w *world, v *view) {
	t.Helper()
	synctest.Wait()
	known := map[string]event.ServerInfo{}
	for _, s := range v.start.Snapshot.Servers {
		known[s.Name] = s
	}
	over := map[uint64]bool{}
	for _, e := range eventsOf[*event.ServerChanged](v) {
		if over[e.Server.Incarnation] {
			t.Errorf("server %s is told of once more after it was removed", e.Server.Name)
		}
		if e.Removed {
			over[e.Server.Incarnation] = true
			delete(known, e.Server.Name)
			continue
		}
		known[e.Server.Name] = e.Server
	}
	list, _ := w.hub.Servers()
	if len(list) != len(known) {
		t.Errorf("the window knows %d servers of %d", len(known), len(list))
	}
	for _, s := range list {
		if k := known[s.Name]; k.State != s.State || k.Incarnation != s.Incarnation || k.PID != s.PID {
			t.Errorf("the window knows %s as %v (%d.), and it is %v (%d.)", s.Name, k.State, k.Incarnation, s.State,
				s.Incarnation)
		}
	}
}

// Random orders, reloads, calls and crashes, at random moments. Whatever comes of them: no two processes of one entry
// run at once, the windows know what is there, an entry that was removed is not told of again, and the last order
// holds. Finding B12.
func TestServerLifeModel_long(t *testing.T) {
	t.Parallel()
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		subtest(t, fmt.Sprint("seed ", seed), func(t *testing.T) { liveAtRandom(t, rand.New(rand.NewPCG(seed, 12))) })
	}
}

func liveAtRandom(t *testing.T, rnd *rand.Rand) {
	w := newWorld(t, map[string]*fakeserver.Server{"a": hanging(), "b": hanging()}, "a:"+allow, "b:"+allow)
	v := w.everything()
	var orders sync.WaitGroup
	ctx, stop := context.WithCancelCause(context.Background())
	order := func(f func()) { orders.Go(f) }
	for range 25 {
		name := []string{"a", "b"}[rnd.IntN(2)]
		w.fall(name, &ill{slow: time.Duration(rnd.IntN(4)) * time.Second})
		switch rnd.IntN(8) {
		case 0, 1:
			order(func() { _, _ = w.hub.CallTool(ctx, hub.CallRequest{Server: name, Tool: "echo"}) })
		case 2:
			order(func() { _, _ = w.hub.StopServer(ctx, name, "") })
		case 3:
			order(func() { _, _ = w.hub.RestartServer(ctx, name, "") })
		case 4:
			on := rnd.IntN(2) == 0
			order(func() { _, _ = w.hub.SetServerEnabled(ctx, name, on) })
		case 5:
			w.mu.Lock()
			if p := w.procs[name]; len(p) > 0 {
				p[len(p)-1].Kill()
			}
			w.mu.Unlock()
		default:
			entries := []string{}
			for _, n := range []string{"a", "b"} {
				if rnd.IntN(4) > 0 {
					entries = append(entries, fmt.Sprintf(`%q:{"command":%q,"args":["%d"],"start":%q,"disabled":%v,%s}`, n, n,
						rnd.IntN(2),
						[]string{"lazy", "eager"}[rnd.IntN(2)], rnd.IntN(5) == 0, allow))
				}
			}
			text := `{"mcpServers":{` + strings.Join(entries, ",") + `}}`
			order(func() {
				_, _, _, _ = w.hub.LoadConfig(ctx, []hub.ConfigSource{{Path: "test.json", Scope: "user", JSON: text}})
			})
		}
		pass(time.Duration(rnd.IntN(2500)) * time.Millisecond)
		told(t, w, v)
	}
	pass(2 * time.Minute)
	told(t, w, v)
	list, _ := w.hub.Servers()
	for _, s := range list { // the last order holds
		_, _ = w.hub.StopServer(ctx, s.Name, "")
	}
	pass(2 * time.Minute)
	told(t, w, v)
	list, _ = w.hub.Servers()
	for _, s := range list {
		if s.State == event.ServerReady || s.State == event.ServerConnecting || s.State == event.ServerStopping {
			t.Errorf("%s is %v after it was stopped", s.Name, s.State)
		}
	}
	stop(context.Canceled)
	orders.Wait()
	for name, most := range w.most {
		if most > 1 {
			t.Errorf("%d processes of %s ran at once", most, name)
		}
	}
	if left := w.live["a"] + w.live["b"]; left != 0 {
		t.Errorf("%d processes are left", left)
	}
}
