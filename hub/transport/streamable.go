package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultMaxMessageBytes = 64 << 20
	// receiveAhead is how many messages may wait for Receive before the streams that bring them have to wait.
	receiveAhead = 64
	// deleteTimeout bounds the farewell to a legacy session.
	deleteTimeout = 2 * time.Second
)

// Streamable is the Streamable HTTP transport of both eras: legacy (2025-03-26 to 2025-11-25 basic/transports "Streamable
// HTTP") and modern (2026-07-28 basic/transports/streamable-http). Each request is one exchange, a POST with a goroutine of
// its own; what comes of all of them goes through Receive. Its methods may be called from any goroutine, Receive from one.
type Streamable struct {
	url    *url.URL // nil when it cannot be used
	host   string   // for the Host header; "" for that of url
	header http.Header
	rt     http.RoundTripper
	own    *roundTripper // nil when rt is somebody else's
	auth   Authorizer
	max    int
	log    *slog.Logger

	ctx     context.Context // of everything that goes over HTTP; ended by end
	stop    context.CancelCauseFunc
	out     chan item
	ended   chan struct{} // closed by end
	work    sync.WaitGroup
	closing atomic.Bool
	closed  chan struct{} // closed by the first Close, when it is through

	mu sync.Mutex
	st streamableState // guarded by mu

	last []item // the last words, written by end before ended is closed and from then on Receive's
}

// streamableState is all that changes in a Streamable.
type streamableState struct {
	binding
	session string               // of legacy; "" without one. It is a secret.
	open    map[string]*exchange // by id: the requests whose end nobody has received
	why     error                // set once, by end

	queue   []queued      // notifications and responses that are not posted yet
	posting bool          // a goroutine works on queue
	gate    chan struct{} // closed when the server knows that it is initialized; nil before there was a need to wait

	telling int           // cancellations that are being posted
	told    chan struct{} // closed when telling is 0 again; nil: nobody waits for that
}

// binding is what is spoken: by it a message is sent, and its answer read.
type binding struct {
	modern   bool
	revision string // "" while initialize is open
}

// item is one thing on its way to Receive.
type item struct {
	Received
	ex    *exchange // nil for the standalone stream
	final bool      // the end of ex; it counts only for whoever takes ex
}

var (
	errAborted      = errors.New("the request was aborted")
	errExchangeOver = errors.New("the exchange is over")
)

// NewStreamable makes a transport; nothing is sent before Send. A URL that cannot be used fails each request.
func NewStreamable(o HTTPOptions) *Streamable {
	s := &Streamable{
		rt:     o.RoundTripper,
		auth:   o.Auth,
		max:    o.MaxMessageBytes,
		log:    o.Logger,
		out:    make(chan item, receiveAhead),
		ended:  make(chan struct{}),
		closed: make(chan struct{}),
		st:     streamableState{open: map[string]*exchange{}},
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	if u, err := url.Parse(o.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		u.User, u.Fragment, u.RawFragment = nil, "", ""
		s.url = u
	}
	s.header, s.host = configHeader(o.Header)
	if s.rt == nil {
		s.own = newRoundTripper()
		s.rt = s.own
	}
	if s.max <= 0 {
		s.max = defaultMaxMessageBytes
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Speak tells what is spoken from now on: the rules of the modern era or not, and the revision, "" while initialize is open.
// What was sent before goes on as it began.
func (s *Streamable) Speak(modern bool, revision string) {
	s.mu.Lock()
	s.st.binding = binding{modern: modern, revision: revision}
	s.mu.Unlock()
}

// Send sends m and never blocks. What becomes of a request is told by Receive: messages, and exactly one end, an answer or
// Failed. A notification or a response that cannot be delivered is logged. The ids of open requests differ from each other.
func (s *Streamable) Send(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.why != nil {
		return
	}
	if m.ID == "" {
		s.enqueue(m)
		return
	}
	ex := &exchange{m: m, binding: s.st.binding, gate: s.st.gate, session: s.st.session}
	if _, double := s.st.open[m.ID]; double {
		// Not told by Failed: that would be taken for the end of the first.
		s.log.Error("a request with the id of an open one was not sent", "method", m.Method)
		return
	}
	ex.ctx, ex.cancel = context.WithCancelCause(s.ctx)
	s.st.open[m.ID] = ex
	s.work.Go(func() { s.run(ex) })
}

// Receive gives what came next. An error is the end: ErrHTTPClosed, or ErrSessionExpired after Failed has been told of every
// open request.
func (s *Streamable) Receive() (Received, error) {
	for {
		select {
		case it := <-s.out:
			if s.admit(it) {
				return it.Received, nil
			}
		case <-s.ended:
			return s.lastWord()
		}
	}
}

// lastWord gives what is left after the end. Everything that wanted to send more has been stopped.
func (s *Streamable) lastWord() (Received, error) {
	s.mu.Lock()
	why := s.st.why
	s.mu.Unlock()
	if why == ErrHTTPClosed {
		return Received{}, why
	}
	for {
		var it item
		select {
		case it = <-s.out:
		default:
			if len(s.last) == 0 {
				return Received{}, why
			}
			it, s.last = s.last[0], s.last[1:]
		}
		if s.admit(it) {
			return it.Received, nil
		}
	}
}

// admit tells whether it may still be received: nothing of an aborted exchange, and one end of each.
func (s *Streamable) admit(it item) bool {
	switch {
	case it.ex == nil:
		return true
	case it.final:
		return s.take(it.ex)
	}
	return !it.ex.wire.gone()
}

// deliver hands it to Receive, or gives up when ctx ends: of the exchange, or of the transport.
func (s *Streamable) deliver(ctx context.Context, it item) bool {
	select {
	case s.out <- it:
		return true
	default:
	}
	select {
	case s.out <- it:
		return true
	case <-ctx.Done():
		return false
	}
}

// take removes an exchange. Whoever gets it tells its end, or keeps silent about it.
func (s *Streamable) take(ex *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.open[ex.m.ID] != ex {
		return false
	}
	delete(s.st.open, ex.m.ID)
	return true
}

// Abort closes the exchange of an open request, also while it waits for headers. Nothing of it is received any more. For the
// modern era that is the cancellation (2026-07-28 basic/patterns/cancellation "Transport-Specific Cancellation").
func (s *Streamable) Abort(id string) (written bool) {
	s.mu.Lock()
	ex := s.st.open[id]
	delete(s.st.open, id)
	s.mu.Unlock()
	if ex == nil {
		return false
	}
	written = ex.wire.handed()
	ex.abort(errAborted)
	return written
}
