package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// found is the result of look: a session, an error, or a wait.
type found struct {
	session *mcp.Session
	err     error
	wait    *wait
}

// wait is the wait of a caller for a server. Its results are set before done is closed.
type wait struct {
	n       core.WaiterNumber
	of      *Server
	done    chan struct{}
	session *mcp.Session
	err     error
}

// Acquire returns the session of s, connecting it first if necessary. The caller counts as a user of it: the request r
// until it ends, any other caller, with r 0, until Unlease. The end of ctx ends only this caller's wait, not the start.
// It takes the lock.
func (s *Server) Acquire(ctx context.Context, r core.RequestNumber) (*mcp.Session, error) {
	return s.await(ctx, r, s.look(ctx, r, 0))
}

// await waits for what look has not found. It takes the lock.
func (s *Server) await(ctx context.Context, r core.RequestNumber, f found) (*mcp.Session, error) {
	if f.wait == nil {
		return f.session, f.err
	}
	select {
	case <-f.wait.done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		s.table.House.Update(func() { s.leave(f.wait, r) })
		return nil, context.Cause(ctx)
	}
	return f.wait.session, f.wait.err
}

// leave ends a wait whose caller has gone.
func (s *Server) leave(w *wait, r core.RequestNumber) {
	t := s.table
	switch {
	case t.waits[w.n] != nil:
		delete(t.waits, w.n)
		t.Apply(core.WaiterLeft{Server: s.number, Waiter: w.n,
			SigningIn: s.auth != nil && s.auth.signIn.State() == event.SignInAsking})
	case w.session != nil && r == 0:
		s.unlease()
	}
}

// look is the first step of Acquire. If since is not 0, it is how often a stop had been ordered when the caller began
// to want the server: a stop ordered after that makes look fail. It takes the lock.
func (s *Server) look(ctx context.Context, r core.RequestNumber, since uint64) (f found) {
	s.table.House.Update(func() { f = s.lookNow(ctx, r, since) })
	return f
}

// lookNow is look with the lock held.
func (s *Server) lookNow(ctx context.Context, r core.RequestNumber, since uint64) (f found) {
	if f.err = s.Refusal(ctx); f.err != nil {
		return f
	}
	t, e := s.table, core.ServerWanted{Server: s.number, Request: r, Since: since}
	if s.Settle(); s.conn != nil && since == 0 {
		t.Apply(e)
		f.session = s.conn.session
		return f
	}
	t.waited++
	f.wait = &wait{n: t.waited, of: s, done: make(chan struct{})}
	t.waits[f.wait.n] = f.wait
	e.Waiter = f.wait.n
	t.Apply(e)
	return f
}

// Settle notices that the session has ended.
func (s *Server) Settle() {
	if s.conn != nil && s.conn.session.Broken() {
		s.fall(s.conn)
	}
}

// wake ends a wait.
func (t *Table) wake(e core.WaiterWoken) {
	w := t.waits[e.Waiter]
	s := w.of
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
func (s *Server) Renew(ctx context.Context, r core.RequestNumber, session *mcp.Session) (*mcp.Session, error) {
	select {
	case <-session.Ending(): // it follows the refusal a moment later; until then Acquire would return the same session
	case <-ctx.Done():
	}
	next, err := s.Acquire(ctx, r)
	if err == nil && r == 0 {
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
