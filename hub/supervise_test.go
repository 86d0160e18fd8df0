package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/process"
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

// A server that somebody has used, and that does not start after a crash, is tried again after growing delays, and
// given up after the fifth failure.
func TestRestartDelaysGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := usedWorld(t, s)
		w.fall("s", &ill{err: errRefused})
		s.Disconnect()
		for n, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
			info := w.server("s")
			if info.State != event.ServerFailed || info.Failures != n+1 || next(info) != want {
				t.Fatalf("after failure %d: %s, %d failures, next start in %v; want %v", n+1, info.State, info.Failures, next(info),
					want)
			}
			pass(want - time.Nanosecond)
			if got := w.server("s").Failures; got != n+1 {
				t.Fatalf("it was tried too early: %d failures", got)
			}
			pass(time.Nanosecond)
		}
		if info := w.server("s"); info.State != event.ServerGivenUp || info.Failures != 5 || next(info) != 0 {
			t.Errorf("%+v", info)
		}
		pass(time.Hour)
		if n := w.server("s").Failures; n != 5 {
			t.Errorf("%d failures", n)
		}
		w.nothingLeft()
	})
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
		for i := range 60 {
			lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("x", 1000)))
		}
		w.fall("s", &ill{err: errRefused, stderr: lines})
		for range 5 {
			w.echo().want(t, event.CodeUnavailable, event.ReasonServerFailed)
		}
		e := w.echo().want(t, event.CodeUnavailable, event.ReasonServerGivenUp)
		if len(e.Message) > 3<<10 || !strings.Contains(e.Message, "line 59") || strings.Contains(e.Message, "line 50") {
			t.Errorf("%d bytes: %s", len(e.Message), e.Message)
		}
	})
}

// A server whose program is missing is not started again by the hub itself; it is given up after five failures like any
// other.
func TestMissingProgramIsNotStartedByItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := usedWorld(t, s)
		w.fall("s", &ill{err: &process.StartError{Command: "s", Setting: "command", Message: "it was not found",
			Err: fs.ErrNotExist}})
		s.Disconnect()
		pass(time.Second)
		if info := w.server("s"); info.Failures != 2 || next(info) != 0 || info.State != event.ServerFailed {
			t.Errorf("%+v", info)
		}
		pass(time.Hour)
		for n := 3; n <= 5; n++ {
			w.echo().want(t, event.CodeUnavailable, event.ReasonServerFailed)
			if got := w.server("s").Failures; got != n {
				t.Errorf("%d failures, want %d", got, n)
			}
		}
		w.echo().want(t, event.CodeUnavailable, event.ReasonServerGivenUp)
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
			bubble(t, func(t *testing.T) {
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

// A connection that held for a minute makes up for the failures before; one that did not does not.
func TestStableConnectionForgives(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := usedWorld(t, s)
		for n := range 4 {
			s.Disconnect()
			info := w.server("s")
			if info.Failures != n+1 || info.State != event.ServerFailed {
				t.Fatalf("crash %d: %+v", n+1, info)
			}
			pass(next(info))
			if info := w.server("s"); info.State != event.ServerReady || info.Failures != n+1 {
				t.Fatalf("crash %d: %+v", n+1, info)
			}
			pass(30 * time.Second)
		}
		pass(30 * time.Second)
		if n := w.server("s").Failures; n != 0 {
			t.Errorf("%d failures", n)
		}
		if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		if n := w.server("s").Failures; n != 0 {
			t.Errorf("%d failures after a stop", n)
		}
		w.echo().ok(t)
		s.Disconnect()
		if info := w.server("s"); info.Failures != 1 || info.State != event.ServerFailed || next(info) != time.Second {
			t.Errorf("%+v", info)
		}
		pass(time.Second)
		pass(time.Minute)
		s.Disconnect()
		if info := w.server("s"); info.Failures != 1 {
			t.Errorf("%+v", info)
		}
	})
}

// A server that exits on a cancel is started again a second later, without anybody's order. None of its calls is
// repeated.
func TestServerThatDiedDuringACancelComesBack(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var opts []fakeserver.Option
				if era == "modern" {
					opts = append(opts, fakeserver.WithModern())
				}
				s := hanging(opts...)
				s.Tool("mortal", func(c *fakeserver.CallContext) {
					_ = c.Hang()
					c.Disconnect()
				})
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				v := w.everything()
				other := w.call(hub.CallRequest{Server: "s", Tool: "hang"})
				c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "mortal"})
				synctest.Wait()
				if _, err := v.win.Cancel("r1", "enough"); err != nil {
					t.Fatal(err)
				}
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				other.want(t, event.CodeUnavailable, event.ReasonServerGone)
				if info := w.server("s"); info.State != event.ServerFailed || next(info) != time.Second {
					t.Errorf("%+v", info)
				}
				pass(time.Second)
				if info := w.server("s"); info.State != event.ServerReady || info.Failures != 1 || w.starts("s") != 2 {
					t.Errorf("%+v", info)
				}
				if n := toolCalls(s); n != 2 {
					t.Errorf("%d calls reached the server", n)
				}
				w.echo().ok(t)
				w.nothingLeft()
			})
		})
	}
}

// A call that comes during the delay before a restart waits for that start, within its own clocks. When nobody waits
// any more, there is no start.
func TestCallDuringTheDelayWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		v := w.everything()
		w.fall("s", &ill{err: errRefused})
		for range 2 { // the first failure may be an accident: the next call starts it at once
			w.echo().want(t, event.CodeUnavailable, event.ReasonServerFailed)
		}
		w.fall("s", nil)
		if info := w.server("s"); info.State != event.ServerFailed || info.Failures != 2 || next(info) != 0 {
			t.Fatalf("%+v", info)
		}
		hasty := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo", Timeouts: hub.Timeouts{Total: ptr(time.Second)}})
		if info := w.server("s"); info.State != event.ServerFailed || next(info) != 2*time.Second ||
			w.state("r1") != "connecting" {
			t.Fatalf("%+v, the call is %s", info, w.state("r1"))
		}
		if told := last[*event.ServerChanged](v).Server; next(told) != 2*time.Second {
			t.Errorf("windows were told %+v", told)
		}
		hasty.want(t, event.CodeDeadlineExceeded, event.ReasonTotalTimeout)
		if info := w.server("s"); next(info) != 0 {
			t.Errorf("it will be started for nobody: %+v", info)
		}
		patient := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "echo"})
		listed := make(chan error, 1)
		go func() {
			_, _, err := w.hub.Tools(context.Background(), "s")
			listed <- err
		}()
		pass(time.Second - time.Nanosecond)
		if patient.over() || w.starts("s") != 0 {
			t.Fatalf("%d starts", w.starts("s"))
		}
		patient.ok(t)
		if err := <-listed; err != nil || w.starts("s") != 1 {
			t.Errorf("%v, %d starts", err, w.starts("s"))
		}
		w.nothingLeft()
	})
}

// A stop cancels the planned start, and ends what waits for it with the reason.
func TestStopDuringTheDelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := usedWorld(t, s)
		w.fall("s", &ill{err: errRefused})
		s.Disconnect()
		pass(time.Second)
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"})
		listed := make(chan error, 1)
		go func() {
			_, _, err := w.hub.Tools(context.Background(), "s")
			listed <- err
		}()
		synctest.Wait()
		if info, err := w.hub.StopServer(context.Background(), "s", "enough"); err != nil ||
			info.State != event.ServerStopped || next(info) != 0 {
			t.Errorf("%+v, %v", info, err)
		}
		if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["cancel_reason"] != "enough" {
			t.Errorf("%v", e.Meta)
		}
		wantReason(t, <-listed, event.ReasonServerStopped)
		pass(time.Hour)
		if info := w.server("s"); info.Failures != 2 || w.starts("s") != 1 {
			t.Errorf("%+v", info)
		}
		w.nothingLeft()
	})
}

// The hub starts a crashed server again only if somebody used it and nothing has changed since: not one that never
// started, was started for nobody, was stopped, switched off, removed or changed.
func TestNoBackgroundStartOfWhatNobodyUsed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		fakes := map[string]*fakeserver.Server{}
		for _, name := range []string{"untouched", "never-up", "left", "stopped", "off", "gone", "relaunched"} {
			fakes[name] = hanging()
		}
		fakes["left"] = hanging(fakeserver.WithSilentProbe())
		w := newWorld(t, fakes)
		for _, name := range []string{"stopped", "off", "gone", "relaunched"} {
			if _, err := w.hub.StartServer(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
		w.fall("never-up", &ill{err: errRefused})
		if _, err := w.hub.StartServer(ctx, "never-up"); err == nil {
			t.Fatal("it started")
		}
		brief, stop := context.WithCancelCause(ctx)
		go func() { _, _ = w.hub.StartServer(brief, "left") }()
		synctest.Wait()
		stop(errors.New("nobody wants it"))
		pass(time.Minute)
		for _, name := range []string{"left", "stopped", "off", "gone", "relaunched"} {
			if info := w.server(name); info.State != event.ServerReady {
				t.Fatalf("%s: %+v", name, info)
			}
			fakes[name].Disconnect()
		}
		synctest.Wait()
		if _, err := w.hub.StopServer(ctx, "stopped", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := w.hub.SetServerEnabled(ctx, "off", false); err != nil {
			t.Fatal(err)
		}
		delete(w.servers, "gone")
		w.load(`relaunched:"args":["-v"]`)
		pass(time.Hour)
		for name, want := range map[string]int{"untouched": 0, "never-up": 0, "left": 1, "stopped": 1, "off": 1, "gone": 1,
			"relaunched": 1} {
			if got := w.starts(name); got != want {
				t.Errorf("%s was started %d times, want %d", name, got, want)
			}
		}
		w.nothingLeft()
	})
}

// A hub that shuts down starts nothing any more.
func TestDrainCancelsRestarts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fakes := map[string]*fakeserver.Server{}
		for i := range 6 {
			fakes[fmt.Sprintf("e%d", i)] = hanging(fakeserver.WithSilentProbe())
		}
		w := editedWorld(t, hub.Options{}, func(s *config.Server) {
			if s.Name != "s" {
				s.Start = config.StartEager
			}
		})
		w.servers = fakes
		s := hanging()
		fakes["s"] = s
		w.load("s:" + allow)
		w.echo().ok(t)
		s.Disconnect()
		if info := w.server("s"); next(info) != time.Second {
			t.Fatalf("%+v", info)
		}
		w.hub.Drain(context.Background(), "bye")
		pass(time.Hour)
		total := 0
		for name := range fakes {
			total += w.starts(name)
			if info := w.server(name); info.State != event.ServerStopped || next(info) != 0 {
				t.Errorf("%+v", info)
			}
		}
		if total != 5 { // s, and those four whose turn it was
			t.Errorf("%d starts", total)
		}
		w.nothingLeft()
	})
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
