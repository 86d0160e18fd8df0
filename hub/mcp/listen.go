package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

const methodListen = "subscriptions/listen"

// The wait before a listen stream that has ended is opened anew. It doubles until a stream has held for as long as the longest wait.
const (
	listenDelay    = time.Second
	listenMaxDelay = time.Minute
)

// listener keeps one subscriptions/listen stream of a modern server open. A server may end it by a result, by an error, by notifications/cancelled that names
// the listen request, or with the link: the texts disagree (2026-07-28 basic/patterns/subscriptions, basic/patterns/cancellation, schema.ts), and each of
// them is a normal end. None of it is a call of anybody, so nothing of it is told to the handler but the changes themselves.
type listener struct {
	// mu guards the fields below. It is held while the listen request is queued, which never blocks, so that its id is known before anything answers it.
	mu       sync.Mutex
	end      context.CancelCauseFunc // nil: not started
	over     chan struct{}           // closed when the goroutine has returned
	id       jsonrpc.ID              // of the open stream; zero when none
	opened   int                     // streams opened so far
	honoured bool                    // the server acknowledged the open stream
}

func (l *listener) start(s *Session) {
	ctx, end := context.WithCancelCause(context.Background())
	over := make(chan struct{})
	l.mu.Lock()
	l.end, l.over = end, over
	l.mu.Unlock()
	go func() {
		defer close(over)
		l.keepOpen(ctx, s)
	}()
}

// stop ends the stream with notifications/cancelled, where it is open, and waits for the goroutine.
func (l *listener) stop(cause error) {
	l.mu.Lock()
	end, over := l.end, l.over
	l.mu.Unlock()
	if end != nil {
		end(cause)
		<-over
	}
}

func (l *listener) keepOpen(ctx context.Context, s *Session) {
	delay := listenDelay
	for {
		began := time.Now()
		err := l.once(ctx, s)
		if ctx.Err() != nil || errors.Is(err, jsonrpc.ErrClosed) {
			return
		}
		if e := rpcError(err); e != nil && (e.Code == jsonrpc.CodeMethodNotFound || e.Code == jsonrpc.CodeInvalidParams) {
			s.log.Warn("the server declares list changes but offers no listen stream", "code", e.Code)
			return
		}
		if time.Since(began) >= listenMaxDelay {
			delay = listenDelay
		}
		s.log.Debug("the listen stream has ended and is opened anew", "delay", delay)
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		delay = min(2*delay, listenMaxDelay)
	}
}

// once holds one stream until it ends.
func (l *listener) once(ctx context.Context, s *Session) error {
	params := s.plainParams("notifications", `{"toolsListChanged":true}`)
	l.mu.Lock()
	call, err := s.peer.Begin(methodListen, params)
	if err == nil {
		l.id, l.honoured = call.ID(), false
		l.opened++
	}
	l.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = call.Wait(ctx)
	l.mu.Lock()
	l.id = jsonrpc.ID{}
	l.mu.Unlock()
	return err
}

// endedByServer tells jsonrpc that a server may cancel this one request of ours. Called by the reading goroutine.
func (l *listener) endedByServer(id jsonrpc.ID, _ string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !id.IsZero() && id == l.id
}

// acknowledged notes the server's acknowledgement, which comes first on each stream and names the stream and what of it is honoured. It reports whether
// the stream follows an earlier one.
func (l *listener) acknowledged(s *Session, params json.RawMessage) (again bool) {
	id, err := jsonrpc.ParseID(member(member(params, "_meta"), metaSubscriptionID))
	l.mu.Lock()
	known := err == nil && id == l.id && !l.honoured
	if known {
		l.honoured = true
		again = l.opened > 1
	}
	l.mu.Unlock()
	if known && string(member(member(params, "notifications"), "toolsListChanged")) != "true" {
		s.log.Warn("the server does not honour the subscription to changes of its tool list")
	}
	return again
}
