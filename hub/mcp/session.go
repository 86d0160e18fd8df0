package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/schema"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// lastWordsTime is how long Close waits for what is queued to be written: the cancels of the calls that end with the
// session. A server that reads takes them at once.
const lastWordsTime = 500 * time.Millisecond

var errSessionClosed = errors.New("the session was closed")

// Session is one MCP session over one link. Its methods are safe for concurrent use, except from within OnProgress and
// those methods of Handler that come from one goroutine: they hold up the link, so nothing there may wait for it.
type Session struct {
	o          Options
	log        *slog.Logger
	clientInfo []byte // JSON text

	// state is what the start has found. It is replaced as a whole and never changed, because the reading goroutine asks
	// it for each message.
	state atomic.Pointer[negotiated]

	// Set by Connect, fixed once it has returned.
	link *Link
	peer *jsonrpc.Peer

	// over ends, with what calls shall fail with, when the link has ended.
	over     context.Context
	endOver  context.CancelCauseFunc
	listen   listener
	subs     subscriptions
	cache    cache
	outputs  *schema.Checker
	noise    noise
	errands  errands
	backward atomic.Uint64 // progress notifications that went back
	done     chan struct{}
	err      error // written before done is closed

	// mu guards the fields below.
	mu          sync.Mutex
	calls       map[*openCall]struct{}
	progress    map[string]*openCall     // by progress token, JSON text
	completions map[*completion]struct{} // who waits for notifications/elicitation/complete
	level       string                   // modern: the log level of each request
	mirrors     map[string][]paramHeader // modern HTTP: what calls of a tool say in headers, by its name
	tokens      uint64                   // progress tokens given out
	lingering   lingering
}

// negotiated is what both sides have agreed on. Zero while nothing is known.
type negotiated struct {
	era      Era
	revision string       // "" while initialize is open
	declared Capabilities // legacy: what the server may use
	info     ServerInfo
}

func newSession(o Options) (*Session, error) {
	info, err := json.Marshal(o.Client)
	if err != nil {
		return nil, err
	}
	s := &Session{
		o:           o,
		log:         o.Logger.With("server", o.Server),
		clientInfo:  info,
		done:        make(chan struct{}),
		calls:       make(map[*openCall]struct{}),
		progress:    make(map[string]*openCall),
		completions: make(map[*completion]struct{}),
		outputs:     o.Outputs,
		noise:       noise{printed: o.Printed, tell: o.OnNoise},
	}
	if s.outputs == nil {
		s.outputs = OutputChecker(nil)
	}
	s.cache.account = o.Lists
	s.state.Store(&negotiated{})
	s.over, s.endOver = context.WithCancelCause(context.Background())
	return s, nil
}

// attach makes the peer over a new link.
func (s *Session) attach(l *Link) {
	s.link = l
	o := jsonrpc.Options{
		Server:              s.o.Server,
		Logger:              s.o.Logger,
		OnRequest:           s.requestCame,
		Answer:              answerAtOnce,
		HandleRequest:       s.handleRequest,
		HandleNotification:  s.handleNotification,
		Direct:              s.progressDirect,
		Classify:            classify,
		Tap:                 s.o.Tap,
		OnOutgoingCancelled: s.listen.endedByServer,
		OnLateResponse:      s.lateResponse,
		Route:               routeFor(l, s.Era),
		MaxIncoming:         s.o.MaxIncoming,
		Results:             s.o.Results,
		StallLimit:          s.o.StallLimit,
		OnBadLine:           s.badLine,
		// 2025-03-26 basic/index: clients MUST be able to receive batches; no other revision has them. While initialize is
		// open the revision is not known yet, and a batch may follow its answer at once.
		Batches: func() bool {
			n := s.state.Load()
			return n.era == Legacy && (n.revision == "" || n.revision == Revision20250326)
		},
		// 2026-07-28 basic/patterns/mrtr: servers MUST NOT send requests, and clients MUST NOT write responses.
		NoServerRequests: func() bool { return s.state.Load().era == Modern },
	}
	if s.o.Tap != nil {
		o.Classify = func(n *jsonrpc.Notification) (jsonrpc.Class, string) {
			s.tapNotification(n)
			return classify(n)
		}
	}
	if !s.respawns() {
		// Transports over HTTP bound their own exchanges, and one of them may wait for a person to sign in.
		o.StallLimit = -1
	}
	var peer atomic.Pointer[jsonrpc.Peer] // for Stalled, which may come from any goroutine of the peer
	o.Stalled = func() {
		const why = "the server has stopped reading its input"
		if l.Blame != nil {
			l.Blame(why)
		}
		if p := peer.Load(); p != nil {
			p.Abort(jsonrpc.ErrStalled)
		}
		if l.Kill != nil {
			l.Kill(why)
		}
	}
	s.peer = jsonrpc.NewPeer(l.Conn, o)
	peer.Store(s.peer)
}

// run is the session's owner once it is up: it waits for the link's end and cleans up.
func (s *Session) run() {
	defer close(s.done)
	defer s.cache.close()
	<-s.peer.Ending()
	s.endOver(closedError(s.peer.Err()))
	s.listen.stop(s.peer.Err())
	s.errands.wait()
	<-s.peer.Done() // what was received before the end is delivered first, and the process is waited for
	s.err = &EndedError{Server: s.o.Server, Err: s.peer.Err(), Ended: s.endedText(), Memory: s.memoryUse(),
		ProcessGone: s.link.Exit != nil}
}

// signedIn is how long people have been signing in for this session so far.
func (s *Session) signedIn() time.Duration {
	if s.link.SignedIn == nil {
		return 0
	}
	return s.link.SignedIn()
}

// closedError is err as calls fail with it.
func closedError(err error) error {
	var closed *jsonrpc.ClosedError
	if errors.As(err, &closed) {
		return closed
	}
	return &jsonrpc.ClosedError{Cause: err}
}

func (s *Session) endedText() string {
	if s.link.Ended == nil {
		return ""
	}
	return s.link.Ended()
}

func (s *Session) memoryUse() transport.MemoryUse {
	if s.link.Memory == nil {
		return transport.MemoryUse{}
	}
	return s.link.Memory()
}

// Close ends the session: the listen stream is ended, open calls fail with *jsonrpc.ClosedError, open questions end
// with it as their cause, the link is closed. It returns when all of that is over and no goroutine of the session is
// left; the link's Close bounds the time. Several callers may close at once; the first cause counts. A nil cause stands
// for "the session was closed".
func (s *Session) Close(cause error) error {
	if cause == nil {
		cause = errSessionClosed
	}
	s.listen.stop(cause)
	ctx, stop := context.WithTimeoutCause(context.Background(), lastWordsTime, errSessionClosed)
	defer stop()
	s.peer.Flush(ctx)
	err := s.peer.Close(cause)
	<-s.done
	return err
}

// Ending is closed when the link has ended: calls fail from here on. What is left is cleaned up until Done.
func (s *Session) Ending() <-chan struct{} { return s.over.Done() }

// Broken tells whether the link has ended. It is true before any call fails of that, and before Ending is closed.
func (s *Session) Broken() bool { return s.peer.Err() != nil }

// Done is closed when the session is over and nothing of it is left.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is nil until Done is closed, and then an *EndedError: why, and how the server ended where that is known.
func (s *Session) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Era is what the server speaks: Legacy or Modern.
func (s *Session) Era() Era { return s.state.Load().era }

// Revision is the negotiated protocol revision.
func (s *Session) Revision() string { return s.state.Load().revision }

// Info is what the server says of itself.
func (s *Session) Info() ServerInfo { return s.state.Load().info }

// InFlight is the number of open tool calls, those between two rounds included.
func (s *Session) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// Pending lists the open requests of both directions, oldest first, without the listen stream, which is nobody's call.
func (s *Session) Pending() []jsonrpc.Entry {
	all := s.peer.Tracker().Pending()
	kept := all[:0]
	for _, e := range all {
		if e.Method != protocol.MethodListen {
			kept = append(kept, e)
		}
	}
	return kept
}

// Stats are the link's counters. Progress that goes back counts as dropped.
func (s *Session) Stats() jsonrpc.Stats {
	stats := s.peer.Stats()
	stats.DroppedNotifications += s.backward.Load()
	return stats
}

func (s *Session) capabilities() Capabilities {
	if s.o.Capabilities == nil {
		return Capabilities{}
	}
	return s.o.Capabilities()
}

func (s *Session) logLevel() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}
