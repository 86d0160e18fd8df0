package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// bothDesigns has the capabilities for newTaskServer, by the design of tasks.
var bothDesigns = map[string]string{"2025-11-25": taskCapabilities, "extension": ""}

func eachDesign(t *testing.T, f func(t *testing.T, capabilities string)) {
	for name, capabilities := range bothDesigns {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, capabilities) })
		})
	}
}

// givenUp checks what the caller of a cancelled call got.
func givenUp(t *testing.T, err, cause error, task string, sent bool) {
	t.Helper()
	var given *TaskGivenUpError
	if !errors.As(err, &given) || given.TaskID != task {
		t.Errorf("the call got %v, want task %q", err, task)
	}
	wireCancelled(t, err, cause, sent)
}

func wireCancelled(t *testing.T, err, cause error, sent bool) {
	t.Helper()
	var cancelled *jsonrpc.CancelledError
	if !errors.As(err, &cancelled) || cancelled.Sent != sent || !errors.Is(err, cause) {
		t.Errorf("the call got %v, want sent %t and the cause", err, sent)
	}
}

// TestTaskCancelBeforeID: the call returns at once, nothing is sent that names the request, and the task is cancelled
// as soon as its id is known.
func TestTaskCancelBeforeID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"working"`)
		f.Tool("t", func(c *fakeserver.CallContext) {
			<-time.After(20 * time.Second)
			c.Result(f.made(`"status":"working"`))
		})
		s := connect(t, f.Server, &recorder{})
		ctx, cancel := context.WithCancelCause(background)
		h := &told{}
		out := begin(ctx, s, h.request())
		synctest.Wait()
		why := &stopped{"enough"}
		cancel(why)
		givenUp(t, finished(t, out).err, why, "", false)
		if n := len(f.Received()); len(lines(f.Server, protocol.MethodTaskCancel)) != 0 ||
			f.Received()[n-1].Method != protocol.MethodCallTool {
			t.Error("something was sent before the id was known")
		}
		pass(20 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"T-1"}, taskIDs(f, protocol.MethodTaskCancel)); diff != "" {
			t.Errorf("tasks/cancel (-want +got):\n%s", diff)
		}
		if ids, _ := notedCancels(f); len(ids) != 0 || len(h.statuses()) != 0 {
			t.Errorf("notifications/cancelled of %q, told %q", ids, h.statuses())
		}
		nothingLeft(t, s)
	})
}

// TestTaskCancelBeforeIDWithoutTask: a late answer that is no task, or a task that is over, is dropped.
func TestTaskCancelBeforeIDWithoutTask(t *testing.T) {
	for _, late := range []string{`{"content":[]}`, `{"task":{"taskId":"T-1","status":"completed"}}`, `{"task":{}}`,
		`{"task":7}`, `7`} {
		synctest.Test(t, func(t *testing.T) {
			f := newTaskServer(taskCapabilities, `"status":"working"`)
			f.Tool("t", func(c *fakeserver.CallContext) {
				<-time.After(time.Second)
				c.Result(late)
			})
			s := connect(t, f.Server, &recorder{})
			ctx, cancel := context.WithCancelCause(background)
			out := begin(ctx, s, (&told{}).request())
			synctest.Wait()
			cancel(&stopped{"enough"})
			finished(t, out)
			pass(time.Second)
			nothingLeft(t, s)
			if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 0 {
				t.Errorf("late %s: tasks/cancel of %q", late, ids)
			}
		})
	}
}

// TestTaskCancelLateTask: a modern call is cancelled as an ordinary request until its answer says "task"; when that
// comes all the same, the task is cancelled too.
func TestTaskCancelLateTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer("", `"status":"working"`)
		f.Tool("t", func(c *fakeserver.CallContext) {
			c.Hang()
			c.Result(f.made(`"status":"working"`))
		})
		s := connect(t, f.Server, &recorder{})
		ctx, cancel := context.WithCancelCause(background)
		out := begin(ctx, s, (&told{}).request())
		synctest.Wait()
		why := &stopped{"enough"}
		cancel(why)
		o := finished(t, out)
		wireCancelled(t, o.err, why, true)
		if given := (*TaskGivenUpError)(nil); errors.As(o.err, &given) {
			t.Errorf("nobody asked for a task: %v", o.err)
		}
		nothingLeft(t, s)
		if _, ofCall := notedCancels(f); !ofCall {
			t.Error("the request was not cancelled")
		}
		if diff := cmp.Diff([]string{"T-1"}, taskIDs(f, protocol.MethodTaskCancel)); diff != "" {
			t.Errorf("tasks/cancel (-want +got):\n%s", diff)
		}
	})
}

// TestTaskCancelWithID: tasks/cancel is sent once, the call returns at once, and the answer to tasks/cancel does not
// matter. The session tells when it has the answer, or waits no longer for it.
func TestTaskCancelWithID(t *testing.T) {
	for name, answer := range map[string]fakeserver.Handler{
		"acknowledged": func(c *fakeserver.CallContext) { c.Result(`{}`) },
		"over already": func(c *fakeserver.CallContext) { c.Error(-32602, "terminal") },
		"no answer":    func(c *fakeserver.CallContext) { c.Hang() },
	} {
		t.Run(name, func(t *testing.T) {
			eachDesign(t, func(t *testing.T, capabilities string) {
				f := newTaskServer(capabilities, `"status":"working"`)
				f.Handle(protocol.MethodTaskCancel, answer)
				s := connect(t, f.Server, &recorder{})
				out, cancel := runningTask(t, f, s, &told{})
				pass(2500 * time.Millisecond)
				why := &stopped{"enough"}
				cancel(why)
				givenUp(t, finished(t, out).err, why, "T-1", true)
				settled := s.Settled()
				isSettled := func() bool {
					synctest.Wait()
					select {
					case <-settled:
						return true
					default:
						return false
					}
				}
				if got, want := isSettled(), name != "no answer"; got != want {
					t.Errorf("after the cancel the session is settled: %t, want %t", got, want)
				}
				polls := len(lines(f.Server, protocol.MethodTaskGet))
				pass(2 * cancelPatience)
				nothingLeft(t, s)
				if !isSettled() {
					t.Error("in the end the session is not settled")
				}
				if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 || ids[0] != "T-1" ||
					len(lines(f.Server, protocol.MethodTaskGet)) != polls {
					t.Errorf("tasks/cancel %q, %d polls after it", ids, len(lines(f.Server, protocol.MethodTaskGet))-polls)
				}
				if ids, _ := notedCancels(f); len(ids) != 0 {
					t.Errorf("notifications/cancelled of %q", ids)
				}
			})
		})
	}
}

// TestTaskSettledEachTime: a session that is settled waits again for the answer to its next tasks/cancel.
func TestTaskSettledEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"working"`)
		f.Handle(protocol.MethodTaskCancel, func(c *fakeserver.CallContext) {
			pass(time.Second)
			c.Result(`{}`)
		})
		s := connect(t, f.Server, &recorder{})
		for range 2 {
			out, cancel := runningTask(t, f, s, &told{})
			began := time.Now()
			cancel(&stopped{"enough"})
			finished(t, out)
			<-s.Settled()
			if took := time.Since(began); took != time.Second {
				t.Errorf("settled after %v, want the second until the answer", took)
			}
		}
		<-s.Settled()
		nothingLeft(t, s)
	})
}

// TestTaskNeverNotificationCancelled: at no moment is the request of a task cancelled by its wire id, not even while
// tasks/result blocks. tasks/result and tasks/get are cancelled like other requests.
func TestTaskNeverNotificationCancelled(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		ended []string // methods of the requests that were cancelled by id
	}{{0, nil}, {500 * time.Millisecond, nil}, {1100 * time.Millisecond, []string{protocol.MethodTaskResult}},
		{1500 * time.Millisecond, []string{protocol.MethodTaskResult, protocol.MethodTaskGet}}} {
		synctest.Test(t, func(t *testing.T) {
			f := newTaskServer(taskCapabilities, `"status":"input_required","pollInterval":300`)
			f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) { c.Hang() })
			f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) {
				if len(lines(f.Server, protocol.MethodTaskGet)) == 2 {
					c.Hang()
				}
				c.Result(f.polled())
			})
			s := connect(t, f.Server, &recorder{})
			out, cancel := runningTask(t, f, s, &told{})
			pass(c.after)
			why := &stopped{"enough"}
			cancel(why)
			givenUp(t, finished(t, out).err, why, "T-1", true)
			nothingLeft(t, s)
			methods := map[string]string{}
			for _, m := range f.Received() {
				methods[string(m.ID)] = m.Method
			}
			ids, _ := notedCancels(f)
			var ended []string
			for _, id := range ids {
				ended = append(ended, methods[id])
			}
			if diff := cmp.Diff(c.ended, ended); diff != "" {
				t.Errorf("after %v: cancelled by id (-want +got):\n%s", c.after, diff)
			}
			if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 1 {
				t.Errorf("after %v: tasks/cancel %q", c.after, ids)
			}
		})
	}
}

// TestTaskCompletesAllTheSame: what the server says after the cancel changes nothing.
func TestTaskCompletesAllTheSame(t *testing.T) {
	eachDesign(t, func(t *testing.T, capabilities string) {
		f := newTaskServer(capabilities, `"status":"working"`)
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) {
			<-time.After(5 * time.Second)
			c.Result(`{"taskId":"T-1","status":"completed","result":{}}`)
		})
		h := &told{}
		s := connect(t, f.Server, &recorder{})
		out, cancel := runningTask(t, f, s, h)
		pass(2 * time.Second)
		why := &stopped{"enough"}
		cancel(why)
		givenUp(t, finished(t, out).err, why, "T-1", true)
		if err := f.Notify(protocol.MethodTaskStatus, `{"taskId":"T-1","status":"completed"}`); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		nothingLeft(t, s)
		if diff := cmp.Diff([]string{"working"}, h.statuses()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if len(lines(f.Server, protocol.MethodTaskResult)) != 0 || s.Stats().LateResponses != 1 {
			t.Errorf("%d tasks/result, %+v", len(lines(f.Server, protocol.MethodTaskResult)), s.Stats())
		}
	})
}

// TestTaskResultInHandWins: the caller gives up when the result has been received, but waits behind a notification that
// is still being handled: the call returns the result.
func TestTaskResultInHandWins(t *testing.T) {
	eachDesign(t, func(t *testing.T, capabilities string) {
		f := newTaskServer(capabilities, `"status":"completed","result":`+taskResult)
		answer := protocol.MethodTaskResult
		if f.era == Modern {
			answer = protocol.MethodTaskGet
		}
		f.Handle(answer, func(c *fakeserver.CallContext) {
			c.Log("info", "wait for me")
			if f.era == Modern {
				c.Result(f.polled())
				return
			}
			c.Result(taskResult)
		})
		h := &slowLog{entered: make(chan struct{}), leave: make(chan struct{})}
		o := Options{Server: "test", Open: serving(t, f.Server), Client: testClient, Handler: h}
		s, err := Connect(background, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(nil)
		ctx, cancel := context.WithCancelCause(background)
		out := begin(ctx, s, (&told{}).request())
		<-h.entered
		synctest.Wait() // the result is read, and waits behind the message
		cancel(&stopped{"too late"})
		if got := finished(t, out); got.err != nil || string(got.result.Raw) != taskResult {
			t.Errorf("got %s, %v", rawOf(got.result), got.err)
		}
		close(h.leave)
		nothingLeft(t, s)
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 0 {
			t.Errorf("tasks/cancel %q", ids)
		}
	})
}

// slowLog is a recorder whose Logged blocks the delivery until leave is closed.
type slowLog struct {
	recorder
	entered, leave chan struct{}
}

func (h *slowLog) Logged(LogMessage) {
	close(h.entered)
	<-h.leave
}

// TestTaskNoCancelCapability: the server cannot be asked to stop; the caller's error says that no cancel was sent.
func TestTaskNoCancelCapability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(`{"tools":{},"tasks":{"cancel":null,"requests":{"tools":{"call":{}}}}}`, `"status":"working"`)
		s := connect(t, f.Server, &recorder{})
		before := func() int { return len(f.Received()) - len(lines(f.Server, protocol.MethodTaskGet)) }
		out, cancel := runningTask(t, f, s, &told{})
		pass(1500 * time.Millisecond)
		sent, why := before(), &stopped{"enough"}
		cancel(why)
		givenUp(t, finished(t, out).err, why, "T-1", false)
		nothingLeft(t, s)
		if before() != sent {
			t.Errorf("sent %+v", f.Received()[sent:])
		}
	})
}

// TestTaskTransient: errors of the transport are transient; answers of the server, and ends of the call or of the
// connection, are not.
func TestTaskTransient(t *testing.T) {
	for err, want := range map[error]bool{
		io.ErrUnexpectedEOF:                   true,
		fmt.Errorf("503: %w", errPipeTest):    true,
		&jsonrpc.QueueFullError{}:             true,
		&process.StartError{}:                 true,
		nil:                                   false,
		&jsonrpc.Error{Code: -32603}:          false,
		&jsonrpc.ClosedError{Cause: io.EOF}:   false,
		&jsonrpc.CancelledError{}:             false,
		&jsonrpc.ResultTooLargeError{}:        false,
		&jsonrpc.InvalidResponseError{}:       false,
		fmt.Errorf("x: %w", &jsonrpc.Error{}): false,
		&ProtocolError{}:                      false,
	} {
		if transient(err) != want {
			t.Errorf("%T %v: want %t", err, err, want)
		}
	}
}

// TestTaskRetryAfter: waits grow up to a bound, and are longer where the server asks for that.
func TestTaskRetryAfter(t *testing.T) {
	var got []time.Duration
	d := time.Duration(0)
	for _, err := range []error{io.EOF, io.EOF, &transport.HTTPError{Status: 503, RetryAfter: 5 * time.Second}, io.EOF,
		io.EOF, io.EOF, &transport.HTTPError{Status: 500}} {
		d = nextDelay(d, err)
		got = append(got, d/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 5, 10, 20, 30, 30}, got); diff != "" {
		t.Errorf("seconds (-want +got):\n%s", diff)
	}
}

var errPipeTest = errors.New("the pipe is gone")

// TestTaskTransientPollErrors: polls, and requests for the result, that fail in the transport are tried again, later
// and later, for as long as the caller waits.
func TestTaskTransientPollErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"completed"`)
		var at []time.Time
		failing := func(c *fakeserver.CallContext) {
			at = append(at, time.Now())
			c.Hang()
		}
		f.Handle(protocol.MethodTaskGet, failing)
		s := connect(t, f.Server, &recorder{})
		began := time.Now()
		h := &told{}
		out, _ := runningTask(t, f, s, h)
		// lose fails the request of a method, as a transport does that lost the answer.
		lose := func(method string) {
			t.Helper()
			synctest.Wait()
			for _, e := range s.Pending() {
				if e.Method == method {
					if ok, err := s.peer.Tracker().Cancel(jsonrpc.Outgoing, e.ID, errPipeTest); !ok || err != nil {
						t.Fatal(ok, err)
					}
					return
				}
			}
			t.Fatalf("no %s on the wire at %v", method, time.Since(began))
		}
		for _, wait := range []time.Duration{1, 1, 2, 4, 8, 16, 30, 30} {
			pass(wait * time.Second)
			lose(protocol.MethodTaskGet)
		}
		f.Handle(protocol.MethodTaskGet, func(c *fakeserver.CallContext) { c.Result(f.polled()) })
		f.Handle(protocol.MethodTaskResult, failing)
		pass(30 * time.Second)
		lose(protocol.MethodTaskResult) // a poll was answered, so this is the first failure again
		f.Handle(protocol.MethodTaskResult, func(c *fakeserver.CallContext) { c.Result(taskResult) })
		pass(retryDelay)
		o := finished(t, out)
		if o.err != nil || string(o.result.Raw) != taskResult {
			t.Errorf("got %s, %v", rawOf(o.result), o.err)
		}
		if diff := cmp.Diff([]string{"working", "completed"}, h.statuses()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		var gaps []time.Duration
		for _, a := range at {
			gaps = append(gaps, a.Sub(began)/time.Second)
			began = a
		}
		if diff := cmp.Diff([]time.Duration{1, 1, 2, 4, 8, 16, 30, 30, 30}, gaps); diff != "" {
			t.Errorf("seconds before the requests that failed (-want +got):\n%s", diff)
		}
		if ids := taskIDs(f, protocol.MethodTaskCancel); len(ids) != 0 {
			t.Errorf("tasks/cancel %q", ids)
		}
		nothingLeft(t, s)
	})
}
