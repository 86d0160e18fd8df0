package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Server serves any number of clients. All methods are safe for concurrent use.
type Server struct {
	o   Options
	log *slog.Logger

	mu       sync.Mutex
	open     int           // running requests of all sessions
	openOf   map[share]int // of these, the requests over HTTP
	bytes    int           // params of the large requests among them
	bytesOf  map[any]int   // the same by session or share
	closed   error         // why no new session is accepted
	sessions map[*Session]struct{}
	lasting  int                    // of these, the sessions that last for more than one call
	byID     map[string]*Session    // legacy sessions over HTTP
	parked   map[string]*rounds     // by requestState
	parkedAt map[wireRequest]string // the requestStates of parked, by the request that was answered
	parkings uint64                 // counts what was parked
	backlog  *backlog
	released *bounds.Releases
	running  sync.WaitGroup // sessions; Add is called with mu held, while closed is nil
}

// New returns a server. The caller must call Close.
func New(o Options) *Server {
	o.Bounds = o.Bounds.filled()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, log: o.Logger, sessions: map[*Session]struct{}{}, byID: map[string]*Session{},
		openOf: map[share]int{}, bytesOf: map[any]int{},
		parked: map[string]*rounds{}, parkedAt: map[wireRequest]string{}}
	s.released = bounds.NewReleases(debug.FreeOSMemory)
	s.backlog = newBacklog(o.Bounds, s.released)
	return s
}

// Serve serves one client over one stream of bytes, such as stdio, until the connection, the server or ctx ends. It
// owns conn. When it returns, none of the client's requests runs any more. The error says why it ended, and is nil if
// the client has closed its side.
func (s *Server) Serve(ctx context.Context, conn jsonrpc.Conn) error {
	session := s.newSession(true, nil)
	session.peer = jsonrpc.PreparePeer(conn, session.peerOptions())
	session.link = peerLink{peer: session.peer}
	if err := s.admit(session); err != nil {
		_ = conn.Close()
		return err
	}
	session.peer.Start()
	stop := context.AfterFunc(ctx, func() { session.End(context.Cause(ctx)) })
	defer stop()
	if err := session.attend(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// attend waits until the peer of a session ends, and for the rest of the session. It returns why the peer ended.
func (s *Session) attend() error {
	<-s.peer.Ending()
	cause := s.peer.Err()
	if inner := errors.Unwrap(cause); inner != nil {
		cause = inner
	}
	s.End(cause)
	_ = s.peer.Close(cause)
	s.over()
	return cause
}

// Sessions returns the open sessions.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.sessions))
}

// Close ends all sessions with the cause and waits for them and their requests. A Handler must not call it.
func (s *Server) Close(cause error) {
	if cause == nil {
		cause = ErrServerClosed
	}
	s.mu.Lock()
	if s.closed == nil {
		s.closed = cause
	}
	s.mu.Unlock()
	for _, session := range s.Sessions() {
		session.End(cause)
	}
	s.running.Wait()
	s.leaveParked(func(*rounds) bool { return true }) // answers for which no client came
	s.released.Close()
}

// newSession creates a session, for admit. client is not nil for one that may give way to another one.
func (s *Server) newSession(lasting bool, client *share) *Session {
	session := &Session{id: rand.Text(), server: s, lasting: lasting, share: client,
		subscribed: map[string]struct{}{}, listening: map[jsonrpc.ID]*listening{}}
	session.use.change(0)
	session.ctx, session.cancel = context.WithCancelCause(context.Background())
	return session
}

// admit opens a session. Its over must be called, unless there is an error. Only lasting sessions count against the
// bound: the session of a single modern call over HTTP is bounded as a request, and while it is parked.
func (s *Server) admit(session *Session) error {
	surplus, err := s.enroll(session)
	if surplus != nil {
		surplus.End(ErrDisplaced)
	}
	return err
}

// enroll counts a new session, and returns the one that gives way to it, if any.
func (s *Server) enroll(session *Session) (surplus *Session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return nil, s.closed
	}
	if session.lasting && s.lasting >= s.o.Bounds.Sessions {
		if surplus = s.surplus(session.share); surplus == nil {
			return nil, ErrTooManySessions
		}
		surplus.displaced = true
		s.lasting--
	}
	s.sessions[session] = struct{}{}
	if session.lasting {
		s.lasting++
	}
	s.running.Add(1)
	return surplus, nil
}

// surplus returns the session over HTTP that gives way to a new one of a client: of the client that would have most of
// them, and if several have as many of the newcomer, the one that was not used for longest. It returns nil if no client
// would have two. Called with mu held.
func (s *Server) surplus(newcomer *share) *Session {
	count := map[share]int{}
	var some []*Session
	for session := range s.sessions {
		if session.share != nil && !session.displaced {
			count[*session.share]++
			some = append(some, session)
		}
	}
	if newcomer != nil {
		count[*newcomer]++
	}
	some = slices.DeleteFunc(some, func(session *Session) bool { return count[*session.share] < 2 })
	if len(some) == 0 {
		return nil
	}
	return slices.MaxFunc(some, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(count[*a.share], count[*b.share]),
			truth(newcomer != nil && *a.share == *newcomer)-truth(newcomer != nil && *b.share == *newcomer),
			b.use.compare(&a.use))
	})
}

// truth orders what is true behind what is not.
func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// use is when a session was used last. It is safe for concurrent use.
type use struct {
	busy atomic.Int32 // the number of open exchanges
	last atomic.Int64 // when the last one began or ended, in nanoseconds of Unix time
}

func (u *use) change(by int32) {
	u.busy.Add(by)
	u.last.Store(time.Now().UnixNano())
}

// compare orders by time. What is in use is later than all that is not.
func (u *use) compare(other *use) int {
	return cmp.Or(truth(u.busy.Load() > 0)-truth(other.busy.Load() > 0), cmp.Compare(u.last.Load(), other.last.Load()))
}

// share identifies the requests over HTTP that are counted together across sessions: those with one clientInfo, by its
// hash. Calls of 2026-07-28 have nothing else in common.
type share [sha256.Size]byte

func shareOf(c Client) share { return sha256.Sum256(c.Info) }

// enter counts a running request, also in its share if there is one, which may have so many, and reports whether there
// was room. count undoes it.
func (s *Server) enter(of *share, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.o.Bounds.OpenInAll || of != nil && s.openOf[*of] >= most {
		return false
	}
	s.take(of)
	return true
}

// count counts a request that runs again, without a bound, since the number of parked calls is bounded, or one that
// does not run any more.
func (s *Server) count(of *share, runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if runs {
		s.take(of)
	} else {
		s.leave(of)
	}
}

// take counts a running request, and leave undoes it. Both are called with mu held.
func (s *Server) take(of *share) {
	s.open++
	if of != nil {
		s.openOf[*of]++
	}
}

func (s *Server) leave(of *share) {
	s.open--
	if of == nil {
		return
	}
	if s.openOf[*of]--; s.openOf[*of] == 0 {
		delete(s.openOf, *of)
	}
}

// largeParams is the size from which on params count against OpenBytes.
const largeParams = 64 << 10

// hold counts the params of a large request of a client, which is a session or a share, and reports whether there was
// room. let undoes it.
func (s *Server) hold(client any, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	most, own := s.o.Bounds.OpenBytes, s.bytesOf[client]
	if s.bytes > 0 && s.bytes+n > most || own > 0 && own+n > most/2 {
		return false
	}
	s.bytes += n
	s.bytesOf[client] += n
	return true
}

func (s *Server) let(client any, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= n
	s.released.Note(n)
	if s.bytesOf[client] -= n; s.bytesOf[client] == 0 {
		delete(s.bytesOf, client)
	}
}

// sessionOf returns the session of a parked request of 2026-07-28 over HTTP, or nil if there is none with that state.
func (s *Server) sessionOf(state string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.parked[state]; r != nil && !r.call.Session.lasting {
		return r.call.Session
	}
	return nil
}

var (
	// ErrUnknownMethod is returned by a Handler for a method that it does not know.
	ErrUnknownMethod error = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
	// ErrUndeclared is the error of Ask if the client has not declared that it answers such questions. They may be asked
	// elsewhere.
	ErrUndeclared = errors.New("mcpserver: the client has not declared the capability for this question")
	// ErrNotAskable is the error of Ask where the protocol allows no question: a modern client can be asked only during
	// tools/call, prompts/get and resources/read. It is also the error of a question that was withdrawn because its call
	// has ended. It may be asked in the course of another call.
	ErrNotAskable = errors.New("mcpserver: the client can not be asked in the course of this request")
	// ErrNoRetry is the cause of a modern request's end if its client was asked and did not retry in time.
	ErrNoRetry = errors.New("the client did not retry the request in time")
	// ErrGaveWay is the cause of a modern request's end if its client was asked in so many newer ones that it has no more
	// room (Bounds.Parked).
	ErrGaveWay = errors.New("the client was asked in too many calls at once, and the oldest gave way")
	// ErrNotParked is the answer to a modern request, and the cause of its end, if there is no room to wait until its
	// client has answered a question (Bounds.Parked).
	ErrNotParked error = &jsonrpc.Error{Code: jsonrpc.CodeTooManyRequests,
		Message: "too many calls wait for the answers to questions: answer those of another, and call again"}
	// ErrTooManySessions is the error for a session beyond Bounds.Sessions.
	ErrTooManySessions = errors.New("too many sessions are open: end one, or come back later")
	// ErrDisplaced is the cause of the end of a session that has given way to a new one of its client, or because its
	// client has more than others.
	ErrDisplaced = errors.New("too many sessions are open, and this client has most of them")
	// ErrIdle is the cause of the end of a legacy session over HTTP that was not used for Bounds.Idle.
	ErrIdle = errors.New("the session was not used for too long")
	// ErrServerClosed is the cause if Close is called with nil.
	ErrServerClosed = errors.New("mcpserver: the server is closed")
)

// SessionEndedError is the cause of the end of requests whose session has ended.
type SessionEndedError struct{ Cause error }

func (e *SessionEndedError) Error() string {
	return "the client's session has ended: " + e.Cause.Error()
}

// Unwrap returns the cause of the session's end.
func (e *SessionEndedError) Unwrap() error { return e.Cause }

func invalid(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

var (
	errNotInitialized = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
		Message: "the first request must be initialize, or carry the metadata of 2026-07-28"}
	errInitialized = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the session is initialized already"}
	errTooMany     = &jsonrpc.Error{Code: jsonrpc.CodeTooManyRequests, Message: "too many open requests: wait until one ends"}
	errTooLarge    = &jsonrpc.Error{Code: jsonrpc.CodeTooManyRequests,
		Message: "the open requests are too large: wait until one ends"}
	errState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: "requestState is unknown, used, expired, given up for newer calls, or not of this request"}
)

func unsupported(requested string) error {
	data, _ := json.Marshal(map[string]any{"supported": []string{protocol.Revision20260728}, "requested": requested})
	return &jsonrpc.Error{Code: protocol.CodeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}
