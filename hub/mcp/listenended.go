package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// endStream ends a stream with a context that has ended.
func (l *listener) endStream(ended context.Context, call *jsonrpc.Call) error {
	l.mu.Lock()
	l.open = nil
	l.left, l.answer = call.ID(), make(chan struct{})
	l.mu.Unlock()
	_, err := call.Wait(ended)
	return err
}

// settle waits a little for the answer to a stream that was just left. Servers should send none, and some tidy up
// before they send one.
func (l *listener) settle(ctx context.Context, err error) {
	var cancelled *jsonrpc.CancelledError
	if !errors.As(err, &cancelled) || !cancelled.Sent {
		return // it was answered before, or the server has never seen it
	}
	l.mu.Lock()
	answer := l.answer
	l.mu.Unlock()
	if answer == nil {
		return
	}
	timer := time.NewTimer(listenSettle)
	defer timer.Stop()
	select {
	case <-answer:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// answeredLate takes the late answer to a stream that was left: it is none of anybody's calls. Called by the reading
// goroutine.
func (l *listener) answeredLate(id jsonrpc.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left.IsZero() || id != l.left {
		return false
	}
	if l.answer != nil {
		close(l.answer)
		l.answer = nil
	}
	return true
}

// refused looks at how a stream ended that was never acknowledged. An error that answers new subscriptions is their
// error, and the stream is tried again without them. A server that knows no listen stream, or refuses one without any
// subscription, is hopeless.
func (l *listener) refused(s *Session, want filter, err error) (again, hopeless bool) {
	refusal := rpcError(err)
	if refusal == nil {
		return false, false
	}
	unknown, invalid := refusal.Code == jsonrpc.CodeMethodNotFound, refusal.Code == jsonrpc.CodeInvalidParams
	refused := s.subs.refuse(want.uris, unknown || invalid, refusal)
	switch {
	case unknown, invalid && len(want.uris) == 0:
		s.log.Warn("the server offers no listen stream for what it declares", "code", refusal.Code)
		l.mu.Lock()
		l.gone = refusal
		l.mu.Unlock()
		s.subs.refuse(s.subs.uris(false), true, refusal) // who came in before it was gone
		return false, true
	case len(refused) > 0:
		s.log.Warn("the server refuses subscriptions to resources", "code", refusal.Code, "count", len(refused))
	}
	return len(refused) > 0, false
}

// endedByServer tells jsonrpc that a server may cancel this one request of ours. Called by the reading goroutine.
func (l *listener) endedByServer(id jsonrpc.ID, _ string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open != nil && id == l.open.call.ID()
}
