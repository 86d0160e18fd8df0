package hub_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// faulty makes spans that panic when a prompt opens, which happens with the hub's lock held.
type faulty struct{ embedded.TracerProvider }

func (faulty) Tracer(string, ...trace.TracerOption) trace.Tracer { return faultyTracer{} }

type faultyTracer struct{ embedded.Tracer }

func (faultyTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	return ctx, faultySpan{}
}

type faultySpan struct{ noop.Span }

func (faultySpan) AddEvent(name string, _ ...trace.EventOption) {
	if name == "mcphub.prompt.opened" {
		panic("one fault")
	}
}

// A panic under the lock calls Options.Fatal, since the state may be half changed. If Fatal returns, as only that of a
// test does, the lock is free again, and the call ends with an internal error. Finding A12.
func TestPanicUnderTheLockIsFatal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var last []string
		w := newWorldWith(t, hub.Options{Tracer: faulty{}, Fatal: func(text string) {
			last = append(last, text)
		}}, serversOf("s", hanging()))
		w.hub.SkipInvariants()
		v := w.everything()
		over := make(chan error, 1)
		if err := v.win.CallTool(hub.CallRequest{ID: "r", Server: "s", Tool: "echo"}, func(_ *hub.CallResult, err error) {
			over <- err
		}); err != nil {
			t.Fatal(err)
		}
		if e := event.AsError(<-over); e == nil || e.Code != event.CodeInternal {
			t.Errorf("the call ended with %v", e)
		}
		if len(last) == 0 || !strings.Contains(last[0], "one fault") {
			t.Errorf("the last line is %q", last)
		}
		_ = w.hub.Requests("") // the lock is free
	})
}

const crashRole = "MCPHUB_TEST_CRASH"

// Without Options.Fatal the panic ends the process, even if a caller recovers. The test runs itself as another process.
// Finding A12.
func TestPanicUnderTheLockEndsTheProcess_real(t *testing.T) {
	if os.Getenv(crashRole) != "" {
		w := newWorldWith(t, hub.Options{Tracer: faulty{}}, serversOf("s", hanging()))
		v := w.everything()
		defer func() { _ = recover() }()
		over := make(chan struct{})
		if err := v.win.CallTool(hub.CallRequest{ID: "r", Server: "s", Tool: "echo"}, func(*hub.CallResult, error) {
			close(over)
		}); err != nil {
			t.Fatal(err)
		}
		<-over
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.timeout=1m")
	child.Env = append(os.Environ(), crashRole+"=1")
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out),
		"panic: mcphub: a fault of the hub may have damaged its state (one fault); the process ends") {
		t.Errorf("%v\n%s", err, out)
	}
}

// An invariant that does not hold at the end of a critical section calls Options.Fatal, too. Finding A12.
func TestBrokenInvariantIsFatal(t *testing.T) {
	var last []string
	h := hub.New(hub.Options{Fatal: func(text string) { last = append(last, text) }})
	h.BreakInvariants("one request too many")
	_ = h.Requests("")
	h.SkipInvariants()
	if len(last) != 1 || !strings.Contains(last[0], "one request too many") {
		t.Errorf("the last line is %q", last)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// In tests, code that gets the state without the lock calls Options.Fatal.
func TestTheStateIsReachedWithTheLockAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var last []string
		w := newWorldWith(t, hub.Options{Fatal: func(text string) { last = append(last, text) }}, nil)
		w.hub.ReachTheState()
		if len(last) != 1 || !strings.Contains(last[0], "without the lock") {
			t.Errorf("the last lines are %q", last)
		}
	})
}

// A panic in a window's call ends that call and nothing else: the caller is told INTERNAL without a word of the panic,
// the request has its one end in every window, nothing is left, and the hub goes on.
func TestPanicInAWindowCall(t *testing.T) {
	for _, before := range []string{"", "cancelled"} {
		subtest(t, "request "+before, func(t *testing.T) {
			var log strings.Builder
			w := newWorldWith(t, hub.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, serversOf("s", hanging()), "s:"+
				allow)
			gate := make(chan struct{})
			w.hub.PanicInCalls(gate, struct{ secret string }{"hunter2"})
			v, other := w.everything(), w.everything()
			over := make(chan error, 1)
			if err := v.win.CallTool(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"}, func(_ *hub.CallResult, err error) {
				over <- err
			}); err != nil {
				t.Fatal(err)
			}
			var err error
			if before == "cancelled" {
				_, err = v.win.Cancel("r1", "no")
			}
			if err != nil {
				t.Fatal(err)
			}
			close(gate)
			if e := event.AsError(<-over); e == nil || e.Code != event.CodeInternal ||
				strings.Contains(fmt.Sprint(e), "hunter2") {
				t.Errorf("it ended with %v", e)
			}
			if before == "" {
				if end, _ := other.terminalOf("r1").(*event.RequestFinished); end == nil || end.State != event.StateFailed ||
					end.Err == nil || end.Err.Code != event.CodeInternal {
					t.Errorf("the other window was told %+v", end)
				}
			} else if end, _ := other.terminalOf("r1").(*event.RequestCancelled); end == nil || end.ServerMayContinue {
				t.Errorf("the other window was told %+v", end)
			}
			synctest.Wait()
			w.nothingLeft()
			if text := log.String(); !strings.Contains(text, "panic_test.go") && !strings.Contains(text, "export_test.go") ||
				strings.Contains(text, "hunter2") {
				t.Errorf("the log says\n%s", text)
			}
		})
	}
}

// A panic in a host's call reaches the caller, which has to recover it (the gRPC services do). The request ends all the
// same.
func TestPanicInAHostCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		gate := make(chan struct{})
		close(gate)
		w.hub.PanicInCalls(gate, "a fault")
		v := w.everything()
		var recovered any
		func() {
			defer func() { recovered = recover() }()
			_, _ = w.hub.CallTool(t.Context(), hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		}()
		if recovered != "a fault" {
			t.Errorf("the caller recovered %v", recovered)
		}
		if end, _ := v.terminalOf("r1").(*event.RequestFinished); end == nil || end.State != event.StateFailed {
			t.Errorf("the window was told %+v", end)
		}
		w.nothingLeft()
	})
}
