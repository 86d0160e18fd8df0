package hub_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// server returns one server as the hub lists it, once nothing moves.
func (w *world) server(name string) event.ServerInfo {
	w.t.Helper()
	synctest.Wait()
	servers, _ := w.hub.Servers()
	for _, s := range servers {
		if s.Name == name {
			return s
		}
	}
	w.t.Fatalf("there is no server %q", name)
	return event.ServerInfo{}
}

// The error of a failed start names the server, the step and the reason; the next call tries again.
func TestStartFailureNamesWhy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		refuse := true
		s.Handle("initialize", func(c *fakeserver.CallContext) {
			if refuse {
				c.Error(-32000, "no\nlicence")
				return
			}
			c.Result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow, "gone:"+allow)
		v := w.everything()
		for server, words := range map[string][]string{"gone": {`"gone"`, "no such program"},
			"s": {`"s"`, "initialize", `no\nlicence`, "-32000"}} {
			e := w.call(hub.CallRequest{Server: server, Tool: "echo"}).want(t, event.CodeUnavailable, event.ReasonServerFailed)
			info := w.server(server)
			for _, word := range words {
				if !strings.Contains(e.Message, word) || !strings.Contains(info.LastError, word) {
					t.Errorf("%q and %q do not both name %s", e.Message, info.LastError, word)
				}
			}
			if info.State != event.ServerFailed {
				t.Errorf("%+v", info)
			}
		}
		failed := 0
		for _, f := range eventsOf[*event.RequestFinished](v) {
			if f.Method == "initialize" && f.State == event.StateFailed && f.Err != nil {
				failed++
			}
		}
		if failed != 2 {
			t.Errorf("%d failed starts were told", failed)
		}
		refuse = false
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
	})
}

// Everybody who needs a server that is not up waits for the same start.
func TestConcurrentCallsShareOneStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithSilentProbe())
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		var calls []*pendingCall
		for range 20 {
			calls = append(calls, w.call(hub.CallRequest{Server: "s", Tool: "echo"}))
		}
		if _, _, err := w.hub.Tools(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			c.ok(t)
		}
		if w.starts("s") != 1 || s.Count(fakeserver.Method("initialize")) != 1 ||
			s.Count(fakeserver.Method("tools/list")) != 1 {
			t.Errorf("%d starts, %d initialize, %d tools/list", w.starts("s"), s.Count(fakeserver.Method("initialize")),
				s.Count(fakeserver.Method("tools/list")))
		}
	})
}

// A caller that waits for a server can give up, and is told CANCELLED; the start goes on.
func TestGivingUpTheWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithSilentProbe())
		w := newWorld(t, serversOf("s", s))
		for name, wait := range map[string]func(ctx context.Context) error{
			"start": func(ctx context.Context) error { _, err := w.hub.StartServer(ctx, "s"); return err },
			"tools": func(ctx context.Context) error { _, _, err := w.hub.Tools(ctx, "s"); return err },
			"level": func(ctx context.Context) error { return w.hub.SetLogLevel(ctx, "s", "info") },
		} {
			ctx, stop := context.WithCancelCause(context.Background())
			got := make(chan error, 1)
			go func() { got <- wait(ctx) }()
			synctest.Wait()
			stop(fmt.Errorf("%s: enough", name))
			wantReason(t, <-got, event.ReasonCancelled)
		}
		pass(time.Minute)
		if info := w.server("s"); info.State != event.ServerReady || w.starts("s") != 1 {
			t.Errorf("%+v", info)
		}
	})
}

// A file that is deleted takes its servers away, for that is meant; one that cannot be read takes none; one that comes
// later brings its own.
func TestConfigFilesComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()))
		path := filepath.Join(t.TempDir(), "mcp.json")
		reload := func() (servers []event.ServerInfo, problems []event.ConfigProblem) {
			t.Helper()
			servers, problems, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{{Scope: "host", Path: path}})
			if err != nil {
				t.Fatal(err)
			}
			return servers, problems
		}
		if servers, problems := reload(); len(servers) != 0 || len(problems) != 1 || problems[0].Fatal ||
			problems[0].File != path {
			t.Fatalf("no file: %v, %v", servers, problems)
		}
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(w.config("s:" + allow))
		if servers, problems := reload(); len(servers) != 1 || len(problems) != 0 {
			t.Fatalf("a file: %v, %v", servers, problems)
		}
		c := w.call(hub.CallRequest{Server: "s", Tool: "hang"})
		synctest.Wait()
		write("") // truncated, and not written yet
		if servers, problems := reload(); len(servers) != 1 || len(problems) != 1 || !problems[0].Fatal || c.over() {
			t.Fatalf("an empty file: %v, %v", servers, problems)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil { // not even root can read it as a file
			t.Fatal(err)
		}
		if servers, problems := reload(); len(servers) != 1 || len(problems) != 1 || !problems[0].Fatal || c.over() {
			t.Fatalf("a file that cannot be read: %v, %v", servers, problems)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if servers, _ := reload(); len(servers) != 0 {
			t.Fatalf("a deleted file: %v", servers)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
	})
}

// Whatever stops a server, its calls are told the reason word for word; escaping it is left to whoever shows it.
func TestReasonOfAStopIsToldWordForWord(t *testing.T) {
	const reason = "new key,\nsee \u201cSettings\u201d\u00a0\u2192 keys"
	for name, order := range map[string]func(*hub.Hub) (event.ServerInfo, error){
		"stopped":   func(h *hub.Hub) (event.ServerInfo, error) { return h.StopServer(context.Background(), "s", reason) },
		"restarted": func(h *hub.Hub) (event.ServerInfo, error) { return h.RestartServer(context.Background(), "s", reason) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", hanging()))
				v := w.everything()
				w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang", Preapproved: true})
				synctest.Wait()
				if _, err := order(w.hub); err != nil {
					t.Fatal(err)
				}
				if got := v.cancelled("r1").Cancellation.Reason; got != reason {
					t.Errorf("the windows are told %q", got)
				}
			})
		})
	}
}
