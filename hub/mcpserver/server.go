package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// Server serves any number of clients. All methods are safe for concurrent use.
type Server struct {
	o   Options
	log *slog.Logger

	mu       sync.Mutex
	open     int           // requests that run, of all sessions
	openOf   map[share]int // those of 2026-07-28 over HTTP among them
	bytes    int           // of the large ones among them
	bytesOf  map[any]int   // by session, or share
	closed   error         // why no session can begin any more
	sessions map[*Session]struct{}
	lasting  int                 // of them those that last for more than one call
	byID     map[string]*Session // the legacy ones over HTTP
	parked   map[string]*rounds  // by requestState
	parkedAt map[parking]string  // their states
	running  sync.WaitGroup      // sessions; added to with mu held, while closed is nil
}

// New makes a server. It must be closed.
func New(o Options) *Server {
	o.Bounds = o.Bounds.filled()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{o: o, log: o.Logger, sessions: map[*Session]struct{}{}, byID: map[string]*Session{},
		openOf: map[share]int{}, bytesOf: map[any]int{},
		parked: map[string]*rounds{}, parkedAt: map[parking]string{}}
}

// Serve serves one client over one stream of bytes, as stdio is, until the connection or the server ends, or ctx does.
// It owns conn. When it returns, none of the client's requests runs any more; the error is why it ended, nil when the
// client has closed its side.
func (s *Server) Serve(ctx context.Context, conn jsonrpc.Conn) error {
	session, err := s.begin(true)
	if err != nil {
		_ = conn.Close()
		return err
	}
	session.peer = jsonrpc.NewPeer(conn, session.peerOptions())
	session.link = peerLink{peer: session.peer}
	session.opened()
	stop := context.AfterFunc(ctx, func() { session.End(context.Cause(ctx)) })
	defer stop()
	if err := session.attend(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// opened says that the peer and the link are set.
func (s *Session) opened() {
	close(s.ready)
	if s.ctx.Err() != nil && s.peer != nil { // End came first, and could not reach the peer
		s.peer.Abort(errors.Unwrap(s.Err()))
	}
}

// attend waits until the peer of a session ends, and for all that is left of the session; it tells why it ended.
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

// Sessions are those that are open.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Session, 0, len(s.sessions))
	for session := range s.sessions {
		list = append(list, session)
	}
	return list
}

// Close ends all sessions with the cause and waits for them and their requests. It must not be called by a Handler.
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
	s.leaveParked(func(*rounds) bool { return true }) // answers that nobody came for
}

// begin makes a session, whose over must be called. Only lasting ones count against the bound: one that a modern call
// over HTTP is for itself is bounded as a request, and while it is parked.
func (s *Server) begin(lasting bool) (*Session, error) {
	session := &Session{id: rand.Text(), server: s, ready: make(chan struct{}), lasting: lasting}
	session.ctx, session.cancel = context.WithCancelCause(context.Background())
	session.subscribed = map[string]struct{}{}
	session.listening = map[jsonrpc.ID]*listening{}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed != nil:
		return nil, s.closed
	case lasting && s.lasting >= s.o.Bounds.Sessions:
		return nil, ErrTooManySessions
	}
	s.sessions[session] = struct{}{}
	if lasting {
		s.lasting++
	}
	s.running.Add(1)
	return session, nil
}

// share is whose requests count together beyond a session: one clientInfo, by its hash. Calls of 2026-07-28 over HTTP
// have nothing else in common.
type share [sha256.Size]byte

func shareOf(c Client) share { return sha256.Sum256(c.Info) }

// enter takes a place among the requests that run, of a share if there is one; leave gives it back.
func (s *Server) enter(of *share) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.o.Bounds.OpenInAll || of != nil && s.openOf[*of] >= s.o.Bounds.OpenPerSession {
		return false
	}
	s.take(of)
	return true
}

// take is enter without a bound, for a retry: how many calls can be parked is bounded. The lock is held.
func (s *Server) take(of *share) {
	s.open++
	if of != nil {
		s.openOf[*of]++
	}
}

func (s *Server) leave(of *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if of == nil {
		return
	}
	if s.openOf[*of]--; s.openOf[*of] == 0 {
		delete(s.openOf, *of)
	}
}

// largeParams is from where on params count one by one.
const largeParams = 64 << 10

// hold takes room for the params of a large request of a client: a session, or a share. let gives it back.
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
	if s.bytesOf[client] -= n; s.bytesOf[client] == 0 {
		delete(s.bytesOf, client)
	}
}

// sessionOf is the session of a parked request of 2026-07-28 over HTTP; nil when there is none of that state.
func (s *Server) sessionOf(state string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.parked[state]; r != nil && !r.call.Session.lasting {
		return r.call.Session
	}
	return nil
}
