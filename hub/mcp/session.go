package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// lastWordsTime is how long Close waits until what is queued was written: the cancels of the calls that end with the
// session. A server that reads accepts them at once.
const lastWordsTime = 500 * time.Millisecond

var errSessionClosed = errors.New("the session was closed")

// Session is one MCP session over one link. Its methods are safe for concurrent use. A method that waits for the server
// must not be called by OnProgress or by those methods of Handler that one goroutine calls: the link delivers nothing
// until these have returned.
type Session struct {
	o          Options
	log        *slog.Logger
	clientInfo []byte // JSON text

	// state is the result of the start. It is replaced as a whole and never changed, because the reading goroutine reads
	// it for each message.
	state atomic.Pointer[negotiated]

	// Set by Connect, fixed once it has returned.
	link *Link
	peer *jsonrpc.Peer

	// over is cancelled, with the error of the calls that fail because of it, when the link has ended.
	over     context.Context
	endOver  context.CancelCauseFunc
	listen   listener
	subs     subscriptions
	cache    cache
	outputs  *schema.Checker
	noise    noise
	errands  errands
	backward atomic.Uint64 // progress notifications whose progress went backward
	done     chan struct{}
	err      error // written before done is closed

	// mu guards the fields below.
	mu          sync.Mutex
	calls       map[*openCall]struct{}
	progress    map[string]*openCall     // by progress token, JSON text
	completions map[*completion]struct{} // the questions that wait for notifications/elicitation/complete
	level       string                   // modern: the log level that each request carries
	mirrors     map[string][]paramHeader // modern HTTP: the headers of calls of a tool, by its name
	tokens      uint64                   // the number of progress tokens issued
	lingering   lingering
}

// negotiated is what both sides have agreed on. It is zero before the start.
type negotiated struct {
	era      Era
	revision string       // "" until initialize is answered
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
		noise:       noise{printed: o.Printed, tell: o.OnNoise, stray: o.OnStray},
	}
	if s.outputs == nil {
		s.outputs = OutputChecker(nil)
	}
	s.cache.account = o.Lists
	s.state.Store(&negotiated{})
	s.over, s.endOver = context.WithCancelCause(context.Background())
	return s, nil
}

// attach creates the peer on a new link.
func (s *Session) attach(l *Link) {
	s.link = l
	o := jsonrpc.Options{
		Server:              s.o.Server,
		Logger:              s.o.Logger,
		OnRequest:           s.requestCame,
		HandleRequest:       s.handleRequest,
		HandleNotification:  s.handleNotification,
		Direct:              s.progressDirect,
		Classify:            classify,
		Tap:                 s.o.Tap,
		OnOutgoingCancelled: s.listen.endedByServer,
		OnLateResponse:      s.lateResponse,
		Route:               routeFor(l, s.Era),
		Overtaken:           l.Exchanges != nil && !l.LegacyOnly, // HTTP+SSE has one stream, in order
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
	var peer *jsonrpc.Peer
	o.Stalled = func() {
		const why = "the server has stopped reading its input"
		if l.Blame != nil {
			l.Blame(why)
		}
		peer.Abort(jsonrpc.ErrStalled)
		if l.Kill != nil {
			l.Kill(why)
		}
	}
	peer = jsonrpc.PreparePeer(l.Conn, o)
	s.peer = peer
	peer.Start()
}

// run owns the session after its start: it waits for the link's end and cleans up.
func (s *Session) run() {
	defer close(s.done)
	defer s.cache.close()
	<-s.peer.Ending()
	s.endOver(closedError(s.peer.Err()))
	s.listen.stop(s.peer.Err())
	s.errands.wait()
	<-s.peer.Done() // what was received before the end is delivered first, and Done waits for the process
	s.err = &EndedError{Server: s.o.Server, Err: s.peer.Err(), Ended: s.endedText(),
		ProcessGone: s.link.Exit != nil}
}

// closedError returns err as the *jsonrpc.ClosedError with which calls fail.
func closedError(err error) error {
	if closed, ok := errors.AsType[*jsonrpc.ClosedError](err); ok {
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

// Close ends the session: it ends the listen stream, fails open calls and ends open questions with a
// *jsonrpc.ClosedError, and closes the link. It returns when all goroutines of the session have ended; the link's Close
// bounds the time. It is safe for concurrent use; only the first cause has an effect. A nil cause means "the session
// was closed".
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

// Ending returns a channel that is closed when the link has ended: calls fail from then on. The cleanup goes on until
// Done.
func (s *Session) Ending() <-chan struct{} { return s.over.Done() }

// Broken reports whether the link has ended. It is true before any call fails for that reason, and before Ending is
// closed.
func (s *Session) Broken() bool { return s.peer.Err() != nil }

// Done returns a channel that is closed when the session has ended and all its goroutines, too.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns nil until Done is closed, and then an *EndedError with the reason, and how the server ended if it is
// known.
func (s *Session) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Era returns the server's era: Legacy or Modern.
func (s *Session) Era() Era { return s.state.Load().era }

// Revision returns the negotiated protocol revision.
func (s *Session) Revision() string { return s.state.Load().revision }

// Info returns how the server describes itself.
func (s *Session) Info() ServerInfo { return s.state.Load().info }

// InFlight returns the number of open tool calls, including those between two rounds.
func (s *Session) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// Pending returns the open requests of both directions, oldest first, without the listen stream, which is no call of a
// user.
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

// Stats returns the link's counters. Progress that goes backward counts as dropped.
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

// Ping sends a request to check that the server is alive, and returns nil for any answer. Modern servers have no ping,
// so server/discover is sent, which each of them must have. Unlike other requests that one is never cancelled on the
// wire.
func (s *Session) Ping(ctx context.Context) error {
	method := protocol.MethodPing
	if s.Era() == Modern {
		method = protocol.MethodDiscover
	}
	_, err := s.peer.Call(ctx, method, s.plainParams())
	if rpcError(err) != nil {
		return nil // the server is alive
	}
	return err
}

// SetLogLevel sets the lowest level of the log messages that the server sends. A legacy server is told at once; in the
// modern era each later request carries the level (2026-07-28 server/utilities/logging). Errors: *ArgumentsError for an
// unknown level, *CapabilityError of a legacy server, and those of CallTool.
func (s *Session) SetLogLevel(ctx context.Context, level string) error {
	if !slices.Contains(protocol.LogLevels, level) {
		return &ArgumentsError{Text: fmt.Sprintf("%q is no log level", bounds.Printable(level))}
	}
	if s.Era() == Modern {
		s.mu.Lock()
		s.level = level
		s.mu.Unlock()
		return nil
	}
	if !s.Info().Logging {
		return &CapabilityError{Server: s.o.Server, Capability: "logging"}
	}
	_, err := s.peer.Call(ctx, protocol.MethodSetLevel, s.plainParams("level", string(jsontext.AppendString(nil, level))))
	return err
}

// RootsChanged notifies a legacy server that declared roots have changed. It does nothing if roots were not declared,
// or in the modern era, where servers ask when they need the roots.
func (s *Session) RootsChanged() error {
	n := s.state.Load()
	if n.era != Legacy || !n.declared.Roots {
		return nil
	}
	return s.peer.Notify(protocol.MethodRootsChanged, nil)
}
