package hub_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// ill says how the processes of a fake server misbehave: what they print, how they exit, why they do not even start.
type ill struct {
	stderr []string
	exit   string
	err    error
	slow   time.Duration // so long a connection takes to close
}

func (i *ill) exited() string {
	if i == nil {
		return ""
	}
	return i.exit
}

func (i *ill) linger() {
	if i != nil {
		faketime.Pass(i.slow)
	}
}

func (i *ill) ended() string {
	if i == nil || len(i.stderr) == 0 {
		return ""
	}
	return "last lines on stderr: " + i.stderr[len(i.stderr)-1]
}

// ail is called when a process starts: it prints the stderr lines of the server's ill, and returns that and its error.
func (w *world) ail(name string, stderr func(string)) (*ill, error) {
	w.mu.Lock()
	i := w.ills[name]
	w.mu.Unlock()
	if i == nil {
		return nil, nil
	}
	for _, line := range i.stderr {
		stderr(line)
	}
	return i, i.err
}

// fall makes a server ill from its next start on; nil heals it.
func (w *world) fall(name string, i *ill) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ills[name] = i
}

var errRefused = errors.New("connection refused")

// next returns the time until the hub starts a server again by itself, 0 when it will not.
func next(i event.ServerInfo) time.Duration {
	if i.NextStart.IsZero() {
		return 0
	}
	return time.Until(i.NextStart)
}

func (w *world) echo() *pendingCall { return w.call(hub.CallRequest{Server: "s", Tool: "echo"}) }

// usedWorld has one server, which somebody has used.
func usedWorld(t *testing.T, s *fakeserver.Server) *world {
	w := newWorld(t, serversOf("s", s), "s:"+allow)
	w.echo().ok(t)
	return w
}

// A task can be followed on its own server alone: that is started again until the total clock of the call ends, in the
// end every half a minute.
func TestRestartDelaysGrowNoFurther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newTaskServer(true)
		w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
		_, c := taskWorld(w, hub.CallRequest{Timeouts: hub.Timeouts{Total: ptr(3 * time.Minute)}})
		w.fall("s", &ill{err: errRefused})
		s.Disconnect()
		pass(2 * time.Second) // the task has tried at once, and the hub after that delay
		var delays []time.Duration
		for range 6 {
			d := next(w.server("s"))
			delays = append(delays, d.Round(time.Second))
			pass(d)
		}
		if diff := cmp.Diff([]time.Duration{4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second,
			30 * time.Second, 30 * time.Second}, delays); diff != "" {
			t.Error(diff)
		}
		if c.over() {
			t.Errorf("the task was given up: %v", c.err)
		}
		c.want(t, event.CodeDeadlineExceeded, event.ReasonTotalTimeout)
		pass(time.Hour)
		if info := w.server("s"); info.State != event.ServerGivenUp {
			t.Errorf("without the task it is %s", info.State)
		}
		w.nothingLeft()
	})
}

// After five failures in a row calls fail at once; the error says how often it failed, how it ended, what it printed
// and what to do.
func TestGivesUpAfterFiveFailures(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Handle("initialize", func(c *fakeserver.CallContext) { c.Disconnect() })
		w := newWorld(t, serversOf("s", s), `s:"era":"legacy",`+allow)
		v := w.everything()
		w.fall("s", &ill{stderr: []string{"reading /etc/x", "no\x1blicence"}, exit: "exited with code 3"})
		begin := time.Now()
		for n := range 5 {
			e := w.echo().want(t, event.CodeUnavailable, event.ReasonServerFailed)
			if info := w.server("s"); info.Failures != n+1 || info.LastExit != "exited with code 3" ||
				!strings.Contains(e.Message, "licence") {
				t.Errorf("%+v, %s", info, e.Message)
			}
		}
		if took := time.Since(begin); took != 14*time.Second || w.starts("s") != 5 {
			t.Errorf("%d starts took %v", w.starts("s"), took)
		}
		for range 3 {
			e := w.echo().want(t, event.CodeUnavailable, event.ReasonServerGivenUp)
			const text = `server "s" failed 5 times in a row and is not started any more; the last time: it did not start: it closed its output; ` +
				`its process exited with code 3; last lines on stderr: reading /etc/x | no\u001blicence; ` +
				`fix it in test.json:1, then restart it`
			if diff := cmp.Diff(text, e.Message); diff != "" {
				t.Error(diff)
			}
			if info := w.server("s"); info.State != event.ServerGivenUp || info.LastError != e.Message ||
				last[*event.ServerChanged](v).Server.State != event.ServerGivenUp {
				t.Errorf("%+v", info)
			}
		}
		_, _, err := w.hub.Tools(context.Background(), "s")
		wantReason(t, err, event.ReasonServerGivenUp)
		if took := time.Since(begin); took != 14*time.Second || w.starts("s") != 5 {
			t.Errorf("%d starts, the last after %v", w.starts("s"), took)
		}
		w.nothingLeft()
	})
}

// What a server has printed is bounded where an error quotes it.
func TestGivenUpQuotesLittle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		var lines []string
		for i := range 20 {
			lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("x", 1000)))
		}
		w.fall("s", &ill{err: errRefused, stderr: lines})
		for range 5 {
			w.echo().want(t, event.CodeUnavailable, event.ReasonServerFailed)
		}
		e := w.echo().want(t, event.CodeUnavailable, event.ReasonServerGivenUp)
		if len(e.Message) > 3<<10 || !strings.Contains(e.Message, "line 19") || strings.Contains(e.Message, "line 10") {
			t.Errorf("%d bytes: %s", len(e.Message), e.Message)
		}
	})
}

// A server that was given up starts again when the user orders it, or when a part of its entry changes that concerns
// its start.
func TestGivenUpIsForgivenByUserOrConfig(t *testing.T) {
	ctx := context.Background()
	for name, forgive := range map[string]func(w *world) error{
		"start":   func(w *world) error { _, err := w.hub.StartServer(ctx, "s"); return err },
		"restart": func(w *world) error { _, err := w.hub.RestartServer(ctx, "s", ""); return err },
		"off and on": func(w *world) error {
			_, err := w.hub.SetServerEnabled(ctx, "s", false)
			_, err2 := w.hub.SetServerEnabled(ctx, "s", true)
			return errors.Join(err, err2)
		},
		"launch":  func(w *world) error { w.load(`s:"args":["-v"],` + allow); return nil },
		"timeout": func(w *world) error { w.load(`s:"timeouts":{"connect":"2m"},` + allow); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
				w.fall("s", &ill{err: errRefused})
				for range 5 {
					w.echo().want(t, event.CodeUnavailable, event.ReasonServerFailed)
				}
				w.load("s:" + `"approvals":{"echo":"allow"}`) // says nothing of how it starts
				if info := w.server("s"); info.State != event.ServerGivenUp {
					t.Fatalf("%+v", info)
				}
				w.fall("s", nil)
				if err := forgive(w); err != nil {
					t.Fatal(err)
				}
				if info := w.server("s"); info.Failures != 0 || info.State == event.ServerGivenUp {
					t.Errorf("%+v", info)
				}
				w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true}).ok(t)
				if info := w.server("s"); info.State != event.ServerReady || info.LastError != "" {
					t.Errorf("%+v", info)
				}
			})
		})
	}
}

// crashing is the variable that makes the test binary a server that exits at its start: see TestMain.
const crashing = "SERVER_THAT_CRASHES"

// What a process that ended at its start has printed, and how it ended, is in the error of the call and in what windows
// see.
func TestCrashedProcessTellsHow_real(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := hub.New(hub.Options{})
	defer func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	text := fmt.Sprintf(`{"mcpServers":{"s":{"command":%q,"env":{%q:"1"},"alwaysAllow":["*"]}}}`, program, crashing)
	if _, _, _,
		err := h.LoadConfig(context.Background(), []hub.ConfigSource{{Scope: "host", Path: "test.json",
		JSON: text}}); err != nil {
		t.Fatal(err)
	}
	_, err = h.CallTool(context.Background(), hub.CallRequest{Server: "s", Tool: "a"})
	e := event.AsError(err)
	if e == nil || e.Reason != event.ReasonServerFailed || !strings.Contains(e.Message,
		"exited with status 3; last lines on stderr: no licence") {
		t.Errorf("%v", err)
	}
	servers, _ := h.Servers()
	if i := servers[0]; i.State != event.ServerFailed || i.Failures != 1 ||
		!strings.HasPrefix(i.LastExit, "exited with code 3") || i.LastError != e.Message {
		t.Errorf("%+v", i)
	}
}
