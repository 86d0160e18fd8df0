package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

const (
	// cancelPatience bounds how long tasks/cancel is tried and its answer waited for. Nobody waits for that with it.
	cancelPatience = 30 * time.Second

	retryDelay    = time.Second
	retryMaxDelay = 30 * time.Second
)

var (
	errCancelUnanswered = errors.New("the server did not answer tasks/cancel in time")
	errNoTaskCancel     = errors.New("the server offers no way to cancel a task")
)

// errands are the requests of a session that no call waits for. Each ends with the session at the latest.
type errands struct {
	mu      sync.Mutex // guards what follows, and that nothing is added once closed is set
	closed  bool
	open    int
	idle    chan struct{} // closed when none is open any more; nil when nobody has asked
	running sync.WaitGroup
}

// start runs f on a goroutine of its own; false: the session is over, and f is not run.
func (e *errands) start(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.open++
	e.running.Go(func() {
		f()
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.open--; e.open == 0 && e.idle != nil {
			close(e.idle)
			e.idle = nil
		}
	})
	return true
}

// Settled is closed once the server has answered, or will not answer, what the session has sent on its own account:
// tasks/cancel. Who is about to close the session waits for it first, within limits of its own, lest the request be
// lost on its way.
func (s *Session) Settled() <-chan struct{} {
	e := &s.errands
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.idle == nil {
		e.idle = make(chan struct{})
	}
	idle := e.idle
	if e.open == 0 {
		close(e.idle)
		e.idle = nil
	}
	return idle
}

// wait is called once the session's end is known to all errands.
func (e *errands) wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.running.Wait()
}

// cancelTask sends tasks/cancel and tells whether it did. It waits for nothing: that the task has ended already
// (-32602) and that it goes on all the same are both allowed for. A 2025-11-25 server without the capability is sent
// nothing. trace is that of the call. told is called exactly once, here or later and without a lock: with nil when the
// server has answered, else with its error, or why it has not heard of it.
func (s *Session) cancelTask(id string, trace any, told func(error)) (sent bool) {
	if s.Era() != Modern && !s.declares("tasks", "cancel") {
		s.log.Info("a task is left running: its server has no tasks/cancel")
		told(errNoTaskCancel)
		return false
	}
	// Quiet: a cancel of the cancel would tell nobody anything.
	params := s.plainParams("taskId", string(jsontext.AppendString(nil, id)))
	call, err := s.peer.BeginAs(protocol.MethodTaskCancel, params, jsonrpc.How{Quiet: true, Tag: trace})
	if err != nil {
		told(err)
		return false
	}
	if !s.errands.start(func() {
		ctx, stop := context.WithTimeoutCause(s.over, cancelPatience, errCancelUnanswered)
		defer stop()
		_, err := call.Wait(ctx)
		if transient(err) {
			err = s.tryAgain(ctx, protocol.MethodTaskCancel, params, jsonrpc.How{Tag: trace}, err)
		}
		s.log.Debug("tasks/cancel is over", "failed", err != nil)
		if cancelled, ok := errors.AsType[*jsonrpc.CancelledError](err); ok {
			err = cancelled.Cause // the end of the session, or of the patience
		}
		told(err)
	}) {
		told(jsonrpc.ErrClosed)
	}
	return true
}

// lateResponse looks for a task in the answer to a call that was given up before it was known to be one: nobody else
// would ever cancel it. It runs on the reading goroutine.
func (s *Session) lateResponse(r jsonrpc.LateResponse) {
	s.settled(r.ID)
	switch r.Method {
	case protocol.MethodTaskGet, protocol.MethodTaskResult, protocol.MethodTaskUpdate, protocol.MethodTaskCancel:
		return // no call of anybody
	case protocol.MethodUnsubscribe:
		if r.Quiet {
			return // nor this
		}
	case protocol.MethodSubscribe:
		s.unsubscribeLate(r.ID, r.Result)
	case protocol.MethodListen:
		if s.listen.answeredLate(r.ID) {
			return // the stream that a new one has taken the place of
		}
	case protocol.MethodCallTool:
		told := r.Told
		if told == nil {
			told = func(error) {} // what was told of the call itself stands: it was cancelled as a request
		}
		if made, err := s.createdTask(r.Quiet, jsontext.Object{Raw: r.Result}); err == nil && made != nil &&
			!made.terminal() {
			s.cancelTask(made.ID, r.Tag, told)
		} else {
			told(jsonrpc.ErrCancelNotNeeded) // it is over
		}
	}
	s.o.Handler.LateResponse(r.ID)
}

// transient tells whether a request that failed with err may be tried again on the same session: trouble on the way, as
// of HTTP. What the server itself answered, what cannot be read, a sign-in that a person has refused, and the end of
// the session or of the caller are not.
func transient(err error) bool {
	var (
		large     *jsonrpc.ResultTooLargeError
		invalid   *jsonrpc.InvalidResponseError
		protocol  *ProtocolError
		cancelled *jsonrpc.CancelledError
	)
	switch {
	case err == nil, rpcError(err) != nil, errors.Is(err, transport.ErrNoSignIn), errors.Is(err, jsonrpc.ErrClosed),
		errors.Is(err, jsonrpc.ErrInvalidJSON),
		errors.As(err, &large), errors.As(err, new(*bounds.Exceeded)), errors.As(err, &invalid), errors.As(err, &protocol),
		errors.As(err, &cancelled):
		return false
	}
	return true
}

// tryAgain sends a request that has failed on the way until it gets through, it is answered with an error, or ctx ends.
func (s *Session) tryAgain(ctx context.Context, method string, params json.RawMessage, how jsonrpc.How,
	err error) error {
	for delay := nextDelay(0, err); transient(err) && wait(ctx, delay); delay = nextDelay(delay, err) {
		_, err = s.peer.CallAs(ctx, method, params, how)
	}
	return err
}

// wait tells whether the time has passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// nextDelay is the wait before another try, after one of d (0: the first) and the error that it is for: a server may
// ask for more (Retry-After).
func nextDelay(d time.Duration, err error) time.Duration {
	d = max(retryDelay, min(2*d, retryMaxDelay))
	var refused *transport.HTTPError
	if errors.As(err, &refused) {
		d = max(d, refused.RetryAfter)
	}
	return d
}
