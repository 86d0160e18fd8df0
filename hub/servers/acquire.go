package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// Found is the result of Seek: a session, an error, or a wait.
type Found struct {
	Session *mcp.Session
	Err     error
	wait    *wait
}

// wait is the wait of a caller for a server. Its results are set before done is closed.
type wait struct {
	n       core.WaiterNumber
	done    chan struct{}
	session *mcp.Session
	err     error
}

// Acquire returns the session of s, connecting it first if necessary. The caller counts as a user of it: a request
// until it ends, any other caller until Unlease. The end of ctx ends only this caller's wait, not the start. It takes
// the lock.
func (s *Server) Acquire(ctx context.Context, c Claim) (*mcp.Session, error) {
	return s.Await(ctx, c, s.look(ctx, c, 0))
}

// Await is like Acquire, for a caller that has already called Seek. It takes the lock.
func (s *Server) Await(ctx context.Context, c Claim, f Found) (*mcp.Session, error) {
	if f.wait == nil {
		return f.Session, f.Err
	}
	select {
	case <-f.wait.done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		s.table.House.Update(func() { s.leave(f.wait, c) })
		return nil, context.Cause(ctx)
	}
	return f.wait.session, f.wait.err
}

// leave ends a wait whose caller has gone.
func (s *Server) leave(w *wait, c Claim) {
	t := s.table
	switch {
	case t.waits[w.n] != nil:
		delete(t.waits, w.n)
		t.Apply(core.WaiterLeft{Server: s.number, Waiter: w.n,
			SigningIn: s.auth != nil && s.auth.signIn.State().Phase == signin.Asking})
	case w.session != nil && c == nil:
		s.unlease()
	}
}

// look is Seek for a caller that uses a session that it finds. It takes the lock.
func (s *Server) look(ctx context.Context, c Claim, since uint64) (f Found) {
	s.table.House.Update(func() {
		if f = s.Seek(ctx, c, since); f.Session != nil {
			s.table.Apply(core.ServerWanted{Server: s.number, Request: numberOf(c)})
		}
	})
	return f
}

// Seek is the first step of Acquire. If since is not 0, it is how often a stop had been ordered when the caller began
// to want the server: a stop ordered after that makes Seek fail. A request that finds a session uses it as soon as it
// is ready to be sent; see core.Ready.
func (s *Server) Seek(ctx context.Context, c Claim, since uint64) (f Found) {
	if f.Err = s.Refusal(ctx); f.Err != nil {
		return f
	}
	if s.conn != nil && s.conn.session.Broken() {
		s.fall(s.conn)
	}
	if s.conn != nil && since == 0 {
		f.Session = s.conn.session
		return f
	}
	t := s.table
	t.waited++
	w := &wait{n: t.waited, done: make(chan struct{})}
	t.waits[w.n] = w
	t.Apply(core.ServerWanted{Server: s.number, Request: numberOf(c), Waiter: w.n, Since: since})
	if t.waits[w.n] != nil && c != nil {
		c.Waits()
	}
	f.wait = w
	return f
}

func numberOf(c Claim) core.RequestNumber {
	if c == nil {
		return 0
	}
	return c.Number()
}

// wake ends a wait.
func (t *Table) wake(e core.WaiterWoken) {
	w, s := t.waits[e.Waiter], t.servers[e.Server]
	delete(t.waits, e.Waiter)
	switch e.Why {
	case core.WakeReady:
		w.session = s.conn.session
	case core.WakeFailed:
		w.err = s.startErr
	case core.WakeStopped:
		w.err = s.errStoppedInStart(e.Reason)
	case core.WakeGivenUp:
		w.err = s.GivenUp()
	case core.WakeUnusable:
		w.err = s.Usable()
	case core.WakeDraining:
		w.err = event.ErrDraining()
	}
	close(w.done)
}

// Refusal returns the error for a caller that wants s now although it cannot be had, or nil if it can.
func (s *Server) Refusal(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.table.House.Draining() {
		return event.ErrDraining()
	}
	if err := s.Usable(); err != nil {
		return err
	}
	return s.owner.Refusal()
}

// Renew waits for the end of a session that the server has forgotten, and returns its successor. The caller already
// counts as a user of the server, and goes on counting once. It takes the lock.
func (s *Server) Renew(ctx context.Context, c Claim, session *mcp.Session) (*mcp.Session, error) {
	select {
	case <-session.Ending(): // it follows the refusal a moment later; until then Acquire would return the same session
	case <-ctx.Done():
	}
	next, err := s.Acquire(ctx, c)
	if err == nil && c == nil {
		s.Unlease() // the caller was counted already
	}
	return next, err
}

// Join returns the session of a connected server and counts the caller as a user of it until Unlease. It returns nil,
// and starts nothing, when the server is not connected.
func (s *Server) Join() *mcp.Session {
	if s.conn == nil || s.conn.session.Broken() {
		return nil
	}
	s.table.Apply(core.ServerWanted{Server: s.number})
	return s.conn.session
}

// ReadySince returns when the latest connection became ready, as in ServerInfo. It distinguishes connections.
func (s *Server) ReadySince() time.Time { return s.Now().Ready }

// Unlease ends a use of the connection that is not that of a request. It takes the lock.
func (s *Server) Unlease() { s.table.House.Update(s.unlease) }

func (s *Server) unlease() { s.table.Apply(core.ServerReleased{Server: s.number}) }

// StartAsks ends the start of s, which is about to ask a person, if nobody wants the server any more.
func (s *Server) StartAsks() { s.table.Apply(core.StartAsks{Server: s.number}) }
