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
	// cancelPatience bounds how long tasks/cancel is tried and its answer awaited. No caller waits for that.
	cancelPatience = 30 * time.Second

	retryDelay    = time.Second
	retryMaxDelay = 30 * time.Second
)

var (
	errCancelUnanswered = errors.New("the server did not answer tasks/cancel in time")
	errNoTaskCancel     = errors.New("the server offers no way to cancel a task")
)

// errands are the requests of a session for which no call waits. All of them end with the session.
type errands struct {
	mu      sync.Mutex // guards what follows; nothing is added once closed is set
	closed  bool
	open    int
	idle    chan struct{} // closed when no errand is open any more; nil if nobody waits
	running sync.WaitGroup
}

// start runs f on a goroutine of its own. It returns false, without running f, if the session is over.
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

// Settled returns a channel that is closed once the server has answered, or will not answer, the tasks/cancel requests
// that the session has sent. A caller that is about to close the session waits for it first, for a bounded time,
// because a request that is still on its way would be lost.
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

// wait waits for all errands. It is called after the session's end has cancelled them.
func (e *errands) wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.running.Wait()
}

// cancelTask sends tasks/cancel, and reports whether it did. It does not wait for the answer: that the task has ended
// already (-32602) and that it continues are both allowed. Nothing is sent to a 2025-11-25 server without the
// capability. trace is that of the call. told is called exactly once, before or after cancelTask returns and without a
// lock: with nil when the server has answered, else with its error, or with the reason why it did not get the request.
func (s *Session) cancelTask(id string, trace any, told func(error)) (sent bool) {
	if s.Era() != Modern && !s.declares("tasks", "cancel") {
		s.log.Info("a task is left running: its server has no tasks/cancel")
		told(errNoTaskCancel)
		return false
	}
	// Quiet: a cancel of the cancel would be of no use.
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
			err = cancelled.Cause // the end of the session, or cancelPatience is over
		}
		told(err)
	}) {
		told(jsonrpc.ErrClosed)
	}
	return true
}

// lateResponse looks for a task in the answer to a call that was given up before it was known to be a task: nothing
// else would ever cancel that task. It runs on the reading goroutine.
func (s *Session) lateResponse(r jsonrpc.LateResponse) {
	s.settled(r.ID)
	switch r.Method {
	case protocol.MethodTaskGet, protocol.MethodTaskResult, protocol.MethodTaskUpdate, protocol.MethodTaskCancel:
		return // not a call of a user
	case protocol.MethodUnsubscribe:
		if r.Quiet {
			return // sent by the session itself
		}
	case protocol.MethodSubscribe:
		s.unsubscribeLate(r.ID, r.Result)
	case protocol.MethodListen:
		if s.listen.answeredLate(r.ID) {
			return // the stream that was replaced
		}
	case protocol.MethodCallTool:
		settle := r.Settle
		if settle == nil {
			settle = func(error) {} // the call was cancelled as a request, and that delivery was reported
		}
		if made, err := s.createdTask(r.Quiet, jsontext.Object{Raw: r.Result}); err == nil && made != nil &&
			!made.terminal() {
			s.cancelTask(made.ID, r.Tag, settle)
		} else {
			settle(jsonrpc.ErrCancelNotNeeded) // there is nothing to cancel
		}
	}
	s.o.Handler.LateResponse(r.ID)
}

// transient reports whether a request that failed with err may be tried again on the same session. That holds for
// failures of the transport, such as of HTTP. It does not hold for an answer of the server itself, a message that
// cannot be parsed, a sign-in that a user has refused, and the end of the session or of the caller.
func transient(err error) bool {
	switch {
	case err == nil, rpcError(err) != nil, errors.Is(err, transport.ErrNoSignIn), errors.Is(err, jsonrpc.ErrClosed),
		errors.Is(err, jsonrpc.ErrInvalidJSON), errors.As(err, new(*jsonrpc.ResultTooLargeError)),
		errors.As(err, new(*bounds.Exceeded)), errors.As(err, new(*jsonrpc.InvalidResponseError)),
		errors.As(err, new(*ProtocolError)), errors.As(err, new(*jsonrpc.CancelledError)):
		return false
	}
	return true
}

// tryAgain repeats a request that has failed with a transient error until it succeeds, it fails with another error, or
// ctx ends.
func (s *Session) tryAgain(ctx context.Context, method string, params json.RawMessage, how jsonrpc.How,
	err error) error {
	for delay := nextDelay(0, err); transient(err) && wait(ctx, delay); delay = nextDelay(delay, err) {
		_, err = s.peer.CallAs(ctx, method, params, how)
	}
	return err
}

// wait waits for d, and reports false if ctx ended before.
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

// nextDelay returns the delay before another try. d is the previous delay (0: none) and err the error of the last try:
// a server may ask for a longer delay (Retry-After).
func nextDelay(d time.Duration, err error) time.Duration {
	d = max(retryDelay, min(2*d, retryMaxDelay))
	if refused, ok := errors.AsType[*transport.HTTPError](err); ok {
		d = max(d, refused.RetryAfter)
	}
	return d
}
