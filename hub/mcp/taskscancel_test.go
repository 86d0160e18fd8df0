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

// TestTaskSettledEachTime: a session that is settled waits again for the answer to its next tasks/cancel, and for none
// without end.
func TestTaskSettledEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTaskServer(taskCapabilities, `"status":"working"`)
		answers := []time.Duration{time.Second, time.Second, 2 * cancelPatience}
		next := answers
		f.Handle(protocol.MethodTaskCancel, func(c *fakeserver.CallContext) {
			answer := next[0]
			next = next[1:]
			pass(answer)
			c.Result(`{}`)
		})
		s := connect(t, f.Server, &recorder{})
		for _, answer := range answers {
			out, cancel := runningTask(t, f, s, &told{})
			began := time.Now()
			cancel(&stopped{"enough"})
			finished(t, out)
			<-s.Settled()
			if took, want := time.Since(began), min(answer, cancelPatience); took != want {
				t.Errorf("settled after %v, want %v", took, want)
			}
		}
		<-s.Settled()
		nothingLeft(t, s)
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
