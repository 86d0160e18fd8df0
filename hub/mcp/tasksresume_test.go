package mcp

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// interruptedTask ends the link while a task is being polled, and returns the error that the caller got.
func interruptedTask(t *testing.T, f *taskServer, h *recorder, heard *told) *TaskInterruptedError {
	t.Helper()
	s := connect(t, f.Server, h)
	out, _ := runningTask(t, f, s, heard)
	pass(2500 * time.Millisecond)
	f.Disconnect()
	o := finished(t, out)
	var interrupted *TaskInterruptedError
	if !errors.As(o.err, &interrupted) || !errors.Is(o.err, jsonrpc.ErrClosed) ||
		!strings.Contains(o.err.Error(), `"T-1"`) {
		t.Fatalf("the call got %v", o.err)
	}
	nothingLeft(t, s)
	return interrupted
}

// TestTaskResume: the task outlives the connection; another session polls on, with the same request, progress by the
// old token, and nothing is sent twice.
func TestTaskResume(t *testing.T) {
	eachDesign(t, func(t *testing.T, capabilities string) {
		f := newTaskServer(capabilities, `"status":"working","pollInterval":1500,"pollIntervalMs":1500`)
		var token string
		f.Tool("t", func(c *fakeserver.CallContext) {
			token = string(c.ProgressToken())
			c.Result(f.made(`"status":"working"`))
		})
		heard := &told{}
		task := interruptedTask(t, f, &recorder{}, heard).Task
		want := Task{ID: "T-1", Era: f.era, PollInterval: 1500 * time.Millisecond, Rounds: 1}
		if f.era == Legacy {
			want.ProgressToken = token
		}
		task.Declared = Capabilities{}
		if diff := cmp.Diff(want, task); diff != "" {
			t.Errorf("task (-want +got):\n%s", diff)
		}

		s := connect(t, f.Server, &recorder{})
		began := time.Now()
		f.mu.Lock()
		f.polls, f.at = []string{`"status":"working"`, `"status":"working"`, `"status":"completed","result":` + taskResult},
			nil
		f.mu.Unlock()
		out := make(chan outcome, 1)
		go func() {
			r, err := s.ResumeTask(background, heard.request(), task)
			out <- outcome{r, err}
		}()
		synctest.Wait()
		if err := f.Notify("notifications/progress", `{"progressToken":`+token+`,"progress":7}`); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		o := finished(t, out)
		if o.err != nil || string(o.result.Raw) != taskResult || o.result.TaskID != "T-1" || o.result.Rounds != 1 {
			t.Fatalf("got %s, %v", rawOf(o.result), o.err)
		}
		if diff := cmp.Diff([]time.Duration{0, 1500 * time.Millisecond, 1500 * time.Millisecond}, f.gaps(began)); diff != "" {
			t.Errorf("waits before the polls (-want +got):\n%s", diff)
		}
		if n := len(lines(f.Server, protocol.MethodCallTool)); n != 1 || len(taskIDs(f, protocol.MethodTaskCancel)) != 0 {
			t.Errorf("%d calls, tasks/cancel %q", n, taskIDs(f, protocol.MethodTaskCancel))
		}
		if len(heard.numbers) != 1 && f.era == Legacy || len(heard.numbers) != 0 && f.era == Modern {
			t.Errorf("progress %v", heard.numbers)
		}
		nothingLeft(t, s)
	})
}

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

// TestTaskResumeQuestions: what was answered before is not asked again; what was open is.
func TestTaskResumeQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", askingTaskInput(`"a":`+formInput, `"b":`+formInput))
		g := newGate("a", "b")
		g.open["a"] <- Answer{Action: Decline}
		interrupted := interruptedTask(t, f, &recorder{ask: g.ask}, &told{})
		if cause := <-g.ended; !errors.Is(cause, jsonrpc.ErrClosed) {
			t.Errorf("the open question ended with %v", cause)
		}
		if diff := cmp.Diff([]string{"a"}, interrupted.Task.Answered); diff != "" {
			t.Fatalf("answered (-want +got):\n%s", diff)
		}
		h := &recorder{ask: accepting(`{}`)}
		s := connect(t, f.Server, h)
		ctx, cancel := context.WithCancelCause(background)
		out := make(chan error, 1)
		go func() {
			_, err := s.ResumeTask(ctx, (&told{}).request(), interrupted.Task)
			out <- err
		}()
		pass(time.Second)
		cancel(&stopped{"seen enough"})
		givenUp(t, <-out, context.Cause(ctx), "T-1", true)
		if qs := h.questions(); len(qs) != 1 || qs[0].InputKey != "b" {
			t.Errorf("asked %+v", qs)
		}
		if diff := cmp.Diff([]string{`T-1 {"a":{"action":"decline"}}`, `T-1 {"b":{"action":"accept","content":{}}}`},
			updates(f)); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
		nothingLeft(t, s)
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

// TestTaskResumeGone: a server that was started anew does not know the task, so the call fails with a TaskLostError.
func TestTaskResumeGone(t *testing.T) {
	eachDesign(t, func(t *testing.T, capabilities string) {
		f := newTaskServer(capabilities, `"status":"working"`)
		task := interruptedTask(t, f, &recorder{}, &told{}).Task
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) { c.Error(-32602, "unknown task") })
		s := connect(t, f.Server, &recorder{})
		var lost *TaskLostError
		if _, err := s.ResumeTask(background, (&told{}).request(), task); !errors.As(err, &lost) {
			t.Errorf("got %v", err)
		}
		nothingLeft(t, s)
	})
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
			g := newGate("a")
			s := connect(t, f.Server, &recorder{ask: g.ask})
			out, _ := runningTask(t, f, s, &told{})
			abandoned, cancel := runningTask(t, f, s, &told{})
			pass(after)
			cancel(&stopped{"enough"})
			finished(t, abandoned)
			s.Close(errPipeTest)
			var interrupted *TaskInterruptedError
			if o := finished(t, out); !errors.As(o.err, &interrupted) || !errors.Is(o.err, errPipeTest) {
				t.Errorf("the call got %v", o.err)
			}
			nothingLeft(t, s)
			if _, err := s.ResumeTask(background, (&told{}).request(), interrupted.Task); !errors.As(err, &interrupted) {
				t.Errorf("on a session that is over: %v", err)
			}
		}
	})
}
