package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

const (
	// The wait before a listen stream that has ended is opened anew. It doubles until a stream has held for as long as the
	// longest wait.
	listenDelay    = time.Second
	listenMaxDelay = time.Minute
	// listenSettle is how long a stream that was ended by us may take to be answered all the same before another one is
	// opened.
	listenSettle = 250 * time.Millisecond
)

var errListenReplaced = errors.New("another set of subscriptions takes its place")

// listener keeps one subscriptions/listen stream of a modern server open, as long as there is anything to hear of. A
// server may end it by a result, by an error, by notifications/cancelled that names the listen request, or with the
// link (over HTTP with that one stream): the texts disagree (2026-07-28 basic/patterns/subscriptions,
// basic/patterns/cancellation, schema.ts), and each of them is a normal end. None of it is a call of anybody, so
// nothing of it is told to the handler but the changes themselves.
//
// The set of subscriptions of a stream is fixed. Another set takes another stream, and never two at a time: servers
// with one session for all streams of a link (go-sdk 1.8.0 on stdio) lose the registrations of the second stream when
// the first one ends, and say nothing. So the first is ended and, for a short time, waited for; then the second is
// opened, and when it is acknowledged all that it is about is told as changed.
type listener struct {
	// mu guards the fields below. It is held while the listen request is queued, which never blocks, so that its id is
	// known before anything answers it.
	mu     sync.Mutex
	end    context.CancelCauseFunc // nil: not started
	over   chan struct{}           // closed when the goroutine has returned
	look   chan struct{}           // capacity 1: the set of subscriptions may be another one now
	open   *stream                 // nil when none
	opened int                     // streams opened so far
	gone   error                   // why no stream can be had any more; nil while there is hope
	left   jsonrpc.ID              // the stream that was ended by us last
	answer chan struct{}           // closed when it is answered all the same; nil once that has happened
}

// stream is one open listen request.
type stream struct {
	call         *jsonrpc.Call
	filter       filter
	acknowledged bool
	honoured     []string // URIs that the server named in its acknowledgement
}

var errNotHonoured = &ProtocolError{Text: "the server does not honour the subscription to this resource"}

func (l *listener) start(s *Session) {
	ctx, end := context.WithCancelCause(context.Background())
	over := make(chan struct{})
	l.mu.Lock()
	l.end, l.over, l.look = end, over, make(chan struct{}, 1)
	l.mu.Unlock()
	go func() {
		defer close(over)
		l.keepOpen(ctx, s)
	}()
}

// stop ends the stream as its transport does that, where it is open, and waits for the goroutine.
func (l *listener) stop(cause error) {
	l.mu.Lock()
	end, over := l.end, l.over
	l.mu.Unlock()
	if end != nil {
		end(cause)
		<-over
	}
}

// changed makes the stream's owner look at the subscriptions. It returns why no stream can be had, nil when one can.
func (l *listener) changed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.look <- struct{}{}:
	default:
	}
	return l.gone
}

func (l *listener) keepOpen(ctx context.Context, s *Session) {
	delay := listenDelay
	for {
		want := s.toHear()
		if want.empty() {
			select {
			case <-l.look:
			case <-ctx.Done():
				return
			}
			continue
		}
		began := time.Now()
		acknowledged, replaced, err := l.hold(ctx, s, want)
		switch {
		case ctx.Err() != nil, errors.Is(err, jsonrpc.ErrClosed):
			return
		case replaced:
			continue
		}
		if !acknowledged {
			again, hopeless := l.refused(s, want, err)
			if hopeless {
				return
			}
			if again {
				continue
			}
		}
		if time.Since(began) >= listenMaxDelay {
			delay = listenDelay
		}
		s.log.Debug("the listen stream has ended and is opened anew", "delay", delay)
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-l.look: // somebody waits for a subscription
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return
		}
		delay = min(2*delay, listenMaxDelay)
	}
}

// hold opens one stream and holds it until it ends, or until another set of subscriptions is wanted.
func (l *listener) hold(ctx context.Context, s *Session, want filter) (acknowledged, replaced bool, err error) {
	params := s.plainParams("notifications", want.json())
	l.mu.Lock()
	call, err := s.peer.Begin(protocol.MethodListen, params)
	if err != nil {
		l.mu.Unlock()
		return false, false, err
	}
	l.open = &stream{call: call, filter: want}
	l.opened++
	l.mu.Unlock()
	for {
		select {
		case <-call.Done():
			acknowledged := l.close()
			_, err := call.Wait(ctx)
			return acknowledged, false, err
		case <-ctx.Done():
			return false, false, l.endStream(ctx, call)
		case <-l.look:
			if l.suits(s) {
				continue
			}
			ended, end := context.WithCancelCause(ctx)
			end(errListenReplaced)
			err := l.endStream(ended, call)
			l.settle(ctx, err)
			return false, true, err
		}
	}
}

// suits tells whether the open stream is for what is wanted now. A URI that was taken back and is wanted again before
// its stream was left is settled by the acknowledgement that has come already.
func (l *listener) suits(s *Session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil || !l.open.filter.equal(s.toHear()) {
		return false
	}
	if l.open.acknowledged {
		l.agree(s, l.open)
	}
	return true
}

// agree settles the subscriptions of an acknowledged stream. Called with mu held.
func (l *listener) agree(s *Session, st *stream) (updated, missing, refused []string) {
	for _, uri := range st.filter.uris {
		if !slices.Contains(st.honoured, uri) {
			missing = append(missing, uri)
			continue
		}
		if first, known := s.subs.agree(uri); known && !first {
			updated = append(updated, uri)
		}
	}
	return updated, missing, s.subs.refuse(missing, false, errNotHonoured)
}

// close forgets the stream that has ended, and tells whether it had been acknowledged: an error ended it then, and does
// not refuse it.
func (l *listener) close() (acknowledged bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	acknowledged = l.open.acknowledged
	l.open = nil
	return acknowledged
}

// carries tells whether a notification belongs to the open stream, by the subscriptionId that each of them must have:
// what still comes of a stream that was left is told anyhow once the next one is acknowledged. One without any id is
// taken for a slip of the server.
func (l *listener) carries(params json.RawMessage) bool {
	raw := member(member(params, "_meta"), protocol.MetaSubscriptionID)
	if raw == nil {
		return true
	}
	id, err := jsonrpc.ParseID(raw)
	l.mu.Lock()
	defer l.mu.Unlock()
	return err == nil && l.open != nil && id == l.open.call.ID()
}

// acknowledged notes the server's acknowledgement, which comes first on each stream and names the stream and what of it
// is honoured. When the stream follows an earlier one, all that it is about is told as changed: what happened between
// the two was told to nobody. Called on the delivery goroutine.
func (l *listener) acknowledged(s *Session, params json.RawMessage) {
	id, err := jsonrpc.ParseID(member(member(params, "_meta"), protocol.MetaSubscriptionID))
	if err != nil {
		return
	}
	honoured := member(params, "notifications")
	uris := versions(member(honoured, uriListName))

	l.mu.Lock()
	if l.open == nil || id != l.open.call.ID() || l.open.acknowledged {
		l.mu.Unlock()
		return
	}
	l.open.acknowledged, l.open.honoured = true, uris
	asked, again := l.open.filter, l.opened > 1
	updated, missing, refused := l.agree(s, l.open)
	// What was just refused is neither wanted nor heard of: no reason to open another stream.
	l.open.filter.uris = slices.DeleteFunc(slices.Clone(asked.uris), func(uri string) bool {
		return slices.Contains(refused, uri)
	})
	l.mu.Unlock()

	if len(missing) > 0 {
		s.log.Warn("the server does not honour subscriptions to resources", "count", len(missing))
	}
	for about, name := range listNames {
		if !asked.topics[about] {
			continue
		}
		if string(member(honoured, name)) != "true" {
			s.log.Warn("the server does not honour the subscription to changes that it declared", "list", name)
		}
		if again {
			s.tellChanged(topic(about))
		}
	}
	if again {
		for _, uri := range updated {
			s.tellUpdated(uri)
		}
	}
}
