package mcp

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// TestTaskTokensOfSessionsDiffer: a task keeps its progress token in the next session, so that session must not give
// out the same token.
func TestTaskTokensOfSessionsDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"completed"`)
		tokens := map[string]bool{}
		for range 3 {
			s := connect(t, f.Server, &recorder{})
			if _, err := s.CallTool(background, (&told{}).request()); err != nil {
				t.Fatal(err)
			}
			s.Close(nil)
		}
		for _, m := range lines(f.Server, protocol.MethodCallTool) {
			tokens[string(member(m.Param("_meta"), protocol.MetaProgressToken))] = true
		}
		if len(tokens) != 3 {
			t.Errorf("tokens %v", tokens)
		}
	})
}

// TestTaskResumeOtherEra: the two designs have nothing in common, so a task cannot go on in the other; nothing is sent.
func TestTaskResumeOtherEra(t *testing.T) {
	for _, c := range []struct {
		option fakeserver.Option
		task   Task
	}{
		{fakeserver.WithModern(), Task{ID: "T-1", Era: Legacy}},
		{fakeserver.WithRevision(Revision20251125), Task{ID: "T-1", Era: Modern}},
		{fakeserver.WithRevision(Revision20250618), Task{ID: "T-1", Era: Legacy}},
		{fakeserver.WithModern(), Task{Era: Modern}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(c.option)
			s := connect(t, f, &recorder{})
			var bad *ArgumentsError
			if _, err := s.ResumeTask(background, &CallRequest{Name: "t"}, c.task); !errors.As(err, &bad) {
				t.Errorf("%+v: %v", c.task, err)
			}
			synctest.Wait()
			if n := len(lines(f, protocol.MethodTaskGet)); n != 0 || s.InFlight() != 0 {
				t.Errorf("%d polls, %d calls", n, s.InFlight())
			}
		})
	}
}

// logGate is a slog.Handler that blocks one message until leave is closed.
type logGate struct {
	slog.Handler
	message string
	leave   chan struct{}
}

func (g *logGate) Enabled(context.Context, slog.Level) bool { return true }
func (g *logGate) WithAttrs([]slog.Attr) slog.Handler       { return g }

func (g *logGate) Handle(_ context.Context, r slog.Record) error {
	if r.Message == g.message {
		<-g.leave
	}
	return nil
}

// TestTaskCloseWaits: the goroutine of a tasks/cancel belongs to the session, and Close does not return before it.
func TestTaskCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", `"status":"working"`)
		f.Handle(protocol.MethodTaskCancel, func(c *fakeserver.CallContext) { c.Hang() })
		g := &logGate{Handler: slog.DiscardHandler, message: "tasks/cancel is over", leave: make(chan struct{})}
		s := connect(t, f.Server, &recorder{}, func(o *Options) { o.Logger = slog.New(g) })
		out, cancel := runningTask(t, f, s, &told{})
		cancel(&stopped{"enough"})
		finished(t, out)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			s.Close(nil)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close did not wait")
		default:
		}
		close(g.leave)
		<-closed
	})
}

// TestTaskNothingLeft: Close in each state of a task leaves no request, no token, no question. A goroutine that is left
// would show at the end of the bubble.
func TestTaskNothingLeft(t *testing.T) {
	eachDesign(t, func(t *testing.T, capabilities string) {
		poll := `"status":"input_required","pollInterval":60000`
		if capabilities == "" {
			poll = askingTaskInput(`"a":` + formInput)
		}
		for _, after := range []time.Duration{0, 1200 * time.Millisecond, 3 * time.Second} {
			f := newTaskServer(capabilities, poll)
			f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) { c.Hang() })
			f.Handle(protocol.MethodTaskCancel, func(c *fakeserver.CallContext) { c.Hang() })
			s := connect(t, f.Server, &recorder{ask: hang(make(chan error, 2))})
			out, _ := runningTask(t, f, s, &told{})
			abandoned, cancel := runningTask(t, f, s, &told{})
			pass(after)
			cancel(&stopped{"enough"})
			finished(t, abandoned)
			if len(s.Pending()) == 0 {
				t.Error("tasks/cancel is not open: the test shows nothing")
			}
			s.Close(errPipeTest)
			var interrupted *TaskInterruptedError
			if o := finished(t, out); !errors.As(o.err, &interrupted) || !errors.Is(o.err, errPipeTest) ||
				!strings.Contains(o.err.Error(), `"T-1"`) {
				t.Errorf("the call got %v", o.err)
			}
			nothingLeft(t, s)
			if _, err := s.ResumeTask(background, (&told{}).request(), interrupted.Task); !errors.As(err, &interrupted) {
				t.Errorf("on a session that is over: %v", err)
			}
		}
	})
}
