package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// endStream cancels a stream, with a context that has ended.
func (l *listener) endStream(ended context.Context, call *jsonrpc.Call) error {
	l.mu.Lock()
	l.open = nil
	l.left, l.answer = call.ID(), make(chan struct{})
	l.mu.Unlock()
	_, err := call.Wait(ended)
	return err
}

// settle waits a short time for the answer to a stream that was just cancelled. Servers should send none, but some
// clean up before they send one.
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

// answeredLate handles the late answer to a stream that was cancelled, and reports whether id is that stream. Called by
// the reading goroutine.
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

// refused handles the end of a stream that was never acknowledged. An error that answers new subscriptions is the error
// of these subscriptions, and again says to open the stream without them. hopeless says that the server has no listen
// stream, or refuses one without any subscription.
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
		s.subs.refuse(s.subs.uris(false), true, refusal) // the subscriptions that were added before gone was set
		return false, true
	case len(refused) > 0:
		s.log.Warn("the server refuses subscriptions to resources", "code", refusal.Code, "count", len(refused))
	}
	return len(refused) > 0, false
}

// endedByServer reports to jsonrpc whether a server may cancel this request of ours. Called by the reading goroutine.
func (l *listener) endedByServer(id jsonrpc.ID, _ string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open != nil && id == l.open.call.ID()
}
