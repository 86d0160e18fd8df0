package hub_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// When a server exits, every call that it had fails with a clear error, and none is repeated. The next call starts it
// anew.
func TestCrashFailsCallsAndNextCallStartsAnew(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging()
				if era == "modern" {
					s = hanging(fakeserver.WithModern())
				}
				s.Tool("crash", func(c *fakeserver.CallContext) { c.Disconnect() })
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				c1 := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
				synctest.Wait()
				c2 := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "crash"})
				for _, c := range []*pendingCall{c1, c2} {
					e := c.want(t, event.CodeUnavailable, event.ReasonServerGone)
					if !strings.Contains(e.Message, "not repeated") || e.Meta["server"] != "s" {
						t.Errorf("%s %v", e.Message, e.Meta)
					}
				}
				if info := w.server("s"); info.State != event.ServerFailed || info.LastError == "" {
					t.Errorf("%+v", info)
				}
				if w.starts("s") != 1 {
					t.Error("it was started at once")
				}
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				if info := w.server("s"); info.State != event.ServerReady || info.LastError != "" || w.starts("s") != 2 ||
					toolCalls(s) != 3 {
					t.Errorf("%+v, %d starts, %d calls", info, w.starts("s"), toolCalls(s))
				}
				if n := len(eventsOf[*event.RequestCancelled](v)); n != 0 {
					t.Errorf("%d requests were told as cancelled", n)
				}
			})
		})
	}
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

// Stopping a server cancels its calls with the reason that was given, and closes what they asked; the next call starts
// it anew.
func TestStopServerTellsItsCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), `s:"alwaysAllow":["hang","ask"]`)
		v := w.everything()
		calls := []*pendingCall{
			w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"}),
			w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "ask"}),
			w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "echo"}),
		}
		synctest.Wait()
		before := time.Now()
		info, err := w.hub.StopServer(context.Background(), "s", "update\npending")
		if err != nil || info.State != event.ServerStopped || time.Since(before) != 0 {
			t.Errorf("%+v, %v, after %v", info, err, time.Since(before))
		}
		for _, c := range calls {
			e := c.want(t, event.CodeCancelled, event.ReasonCancelled)
			if e.Meta["origin"] != "host" || e.Meta["cancel_reason"] != "update\npending" {
				t.Errorf("%v", e.Meta)
			}
		}
		v.noPrompt()
		for _, c := range eventsOf[*event.PromptClosed](v) {
			if c.Cause != event.CauseParent || c.Reason != "update\npending" {
				t.Errorf("%+v", c)
			}
		}
		notified := 0
		for _, c := range eventsOf[*event.RequestCancelled](v) {
			if c.ServerNotified() {
				notified++
			}
		}
		if notified != 2 { // the third was still waiting for its approval
			t.Errorf("%d cancels were sent", notified)
		}
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Errorf("stopping what is stopped: %v", err)
		}
		w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true}).ok(t)
		if w.starts("s") != 2 {
			t.Errorf("%d starts", w.starts("s"))
		}
	})
}

// A stop ends a start that is under way. Nothing is cancelled on the wire: the start of a session cannot be.
func TestStopWhileConnecting(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithSilentProbe())
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		started := make(chan error, 1)
		go func() {
			_, err := w.hub.StartServer(context.Background(), "s")
			started <- err
		}()
		pass(2 * time.Second)
		if info := w.server("s"); info.State != event.ServerConnecting || w.state("r1") != "connecting" {
			t.Errorf("%+v, call %s", info, w.state("r1"))
		}
		info, err := w.hub.StopServer(context.Background(), "s", "not now")
		if err != nil || info.State != event.ServerStopped {
			t.Errorf("%+v, %v", info, err)
		}
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["cancel_reason"] != "not now" {
			t.Errorf("%v", e.Meta)
		}
		wantReason(t, <-started, event.ReasonServerStopped)
		if len(cancels(s)) != 0 || s.Count(fakeserver.Method("initialize")) != 0 || len(w.hub.Requests("")) != 0 {
			t.Errorf("%d cancels, %d initialize, open %v", len(cancels(s)), s.Count(fakeserver.Method("initialize")),
				w.hub.Requests(""))
		}
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		if w.starts("s") != 2 {
			t.Errorf("%d starts", w.starts("s"))
		}
	})
}

// A server that is switched off is neither started nor called, and the error says where to switch it on.
func TestDisabled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow+`,"disabled":true`)
		ctx := context.Background()
		if info := w.server("s"); info.State != event.ServerDisabled {
			t.Errorf("%+v", info)
		}
		e := w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeFailedPrecondition,
			event.ReasonServerDisabled)
		if !strings.Contains(e.Message, "test.json:1") {
			t.Errorf("%s", e.Message)
		}
		_, err := w.hub.StartServer(ctx, "s")
		wantReason(t, err, event.ReasonServerDisabled)
		if info, err := w.hub.SetServerEnabled(ctx, "s", true); err != nil || info.State != event.ServerStopped {
			t.Errorf("%+v %v", info, err)
		}
		c := w.call(hub.CallRequest{Server: "s", Tool: "hang"})
		synctest.Wait()
		w.load("s:" + allow + `,"disabled":true`) // the entry did not change: what was switched by hand stays
		if c.over() {
			t.Fatal("a reload switched the server off")
		}
		if info, err := w.hub.SetServerEnabled(ctx, "s", false); err != nil || info.State != event.ServerDisabled {
			t.Errorf("%+v %v", info, err)
		}
		if e := c.want(t, event.CodeCancelled,
			event.ReasonCancelled); e.Meta["cancel_reason"] != "the server was switched off" {
			t.Errorf("%v", e.Meta)
		}
		w.load("s:" + allow)
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
		_, err = w.hub.SetServerEnabled(ctx, "none", true)
		wantReason(t, err, event.ReasonServerNotFound)
	})
}

// A reload touches the servers that changed and no others: approvals and timeouts restart nothing under a running call.
func TestReloadKeepsWhatDidNotChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b, gone := hanging(), hanging(), hanging()
		w := newWorld(t, map[string]*fakeserver.Server{"a": a, "b": b, "gone": gone}, "a:"+allow, "b:"+allow, "gone:"+allow)
		v := w.everything()
		start := func(id, server string) *pendingCall {
			return w.call(hub.CallRequest{ID: id, Server: server, Tool: "hang"})
		}
		ca, cb, cg := start("ra", "a"), start("rb", "b"), start("rg", "gone")
		synctest.Wait()

		if stopped := w.load(`a:"approvals":{"hang":"allow","echo":"deny"},"timeouts":{"idle":"1h"},"stop":{"stdin":"1s"}`,
			"b:"+allow, "gone:"+allow); len(stopped) != 0 {
			t.Errorf("stopped %v", stopped)
		}
		w.call(hub.CallRequest{Server: "a", Tool: "echo"}).want(t, event.CodePermissionDenied, event.ReasonDeniedByPolicy)

		delete(w.servers, "gone")
		if stopped := w.load("a:"+allow, "b:"+allow+`,"args":["-v"]`); !slices.Equal(slices.Sorted(slices.Values(stopped)),
			[]string{"b", "gone"}) {
			t.Errorf("stopped %v", stopped)
		}
		synctest.Wait()
		if ca.over() || w.starts("a") != 1 {
			t.Error("a server that did not change was touched")
		}
		if e := cb.want(t, event.CodeCancelled,
			event.ReasonCancelled); e.Meta["cancel_reason"] != "the server's config changed" {
			t.Errorf("%v", e.Meta)
		}
		if e := cg.want(t, event.CodeCancelled,
			event.ReasonCancelled); e.Meta["cancel_reason"] != "the server was removed from the config" {
			t.Errorf("%v", e.Meta)
		}
		w.call(hub.CallRequest{Server: "gone", Tool: "echo"}).want(t, event.CodeNotFound, event.ReasonServerNotFound)
		if w.starts("b") != 2 {
			t.Error("a changed server that ran was not started anew")
		}
		w.call(hub.CallRequest{Server: "b", Tool: "echo"}).ok(t)
		removed := 0
		for _, c := range eventsOf[*event.ServerChanged](v) {
			if c.Removed && c.Server.Name == "gone" {
				removed++
			}
		}
		if removed == 0 {
			t.Error("nobody was told of the removal")
		}
		if _, err := w.hub.CancelRequest("ra", "", "", event.OriginHost); err != nil {
			t.Fatal(err)
		}
		ca.want(t, event.CodeCancelled, event.ReasonCancelled)
	})
}

// A file that is half written takes no server away and ends no call; nor does an entry that is broken: what runs goes
// on as it was.
func TestBrokenConfigHarmsNobodyElse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := hanging(), hanging()
		w := newWorld(t, map[string]*fakeserver.Server{"a": a, "b": b}, "a:"+allow, "b:"+allow)
		ca, cb := w.call(hub.CallRequest{Server: "a", Tool: "hang"}), w.call(hub.CallRequest{Server: "b", Tool: "hang"})
		synctest.Wait()
		reload := func(text string) ([]event.ServerInfo, []event.ConfigProblem, []string) {
			servers, problems, stopped, err := w.hub.LoadConfig(context.Background(),
				[]hub.ConfigSource{{Scope: "host", Path: "test.json", JSON: text}})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return servers, problems, stopped
		}
		servers, problems, stopped := reload(`{"mcpServers":{"a":{"comm`)
		if len(servers) != 2 || len(problems) == 0 || !problems[0].Fatal || len(stopped) != 0 || ca.over() || cb.over() {
			t.Fatalf("half a file: servers %d, problems %v, stopped %v", len(servers), problems, stopped)
		}
		servers, problems, stopped = reload(`{"mcpServers":{"a":{"command":"a",` + allow + `},"b":{"command":5}}}`)
		if len(servers) != 2 || servers[1].State != event.ServerReady || len(servers[1].Problems) != 1 ||
			len(problems) != 1 ||
			len(stopped) != 0 || ca.over() || cb.over() {
			t.Fatalf("a broken entry: servers %+v, problems %v, stopped %v", servers, problems, stopped)
		}
		w.call(hub.CallRequest{Server: "b", Tool: "echo"}).ok(t)
		if problems[0].Server != "b" || problems[0].Key != "command" || problems[0].Line != 1 ||
			problems[0].File != "test.json" {
			t.Errorf("%+v", problems[0])
		}
		if _, err := w.hub.StopServer(context.Background(), "b", "enough"); err != nil {
			t.Fatal(err)
		}
		cb.want(t, event.CodeCancelled, event.ReasonCancelled)
		reload(`{"mcpServers":{"a":{"command":"a",` + allow + `},"b":{"command":5}}}`) // nothing runs that could go on
		w.call(hub.CallRequest{Server: "b", Tool: "echo"}).want(t, event.CodeFailedPrecondition, event.ReasonServerBroken)
		reload(w.config("a:"+allow, "b:"+allow))
		w.call(hub.CallRequest{Server: "b", Tool: "echo"}).ok(t)
		if ca.over() || w.starts("a") != 1 {
			t.Error("the sound server was touched")
		}
		servers, _, stopped = reload(`{"mcpServers":{}}`) // valid, without servers: their removal is meant
		if len(servers) != 0 || len(stopped) != 2 {
			t.Errorf("an empty config: servers %+v, stopped %v", servers, stopped)
		}
		ca.want(t, event.CodeCancelled, event.ReasonCancelled)
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
			bubble(t, func(t *testing.T) {
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
