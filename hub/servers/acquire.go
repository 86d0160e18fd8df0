package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// NobodyWaits is the reason with which a question, and a start that waits for it, is cancelled when its last waiter has
// gone.
const NobodyWaits = "nobody waits for the answer any more"

// Found is the result of Seek: a session, an error, or something to wait for before the next Seek.
type Found struct {
	Session *mcp.Session
	Err     error
	wait    <-chan struct{} // closed when Seek is to be called again
	mine    *attempt        // the start that wait belongs to, nil for a stop; the caller counts as its waiter
	stops   uint64          // Life.stops at the time of the look
}

// Acquire returns the session of s, connecting it first if necessary, and counts the caller as a user of it until
// Release (with a claim) or Unlease (c is nil). The end of ctx ends only this caller's wait, not the start. It takes
// the lock.
func (s *Server) Acquire(ctx context.Context, c Claim) (*mcp.Session, error) {
	return s.Await(ctx, c, s.look(ctx, c, nil))
}

// Await is like Acquire, for a caller that has already called Seek. It takes the lock.
func (s *Server) Await(ctx context.Context, c Claim, f Found) (*mcp.Session, error) {
	for f.Session == nil && f.Err == nil {
		select {
		case <-f.wait:
		case <-ctx.Done():
		}
		if f.mine != nil {
			s.stopWaiting(f.mine)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if f.mine != nil && f.mine.err != nil && !f.mine.again {
			return nil, f.mine.err
		}
		f = s.look(ctx, c, &f.stops)
	}
	return f.Session, f.Err
}

func (s *Server) look(ctx context.Context, c Claim, since *uint64) (f Found) {
	s.table.House.Update(func() { f = s.Seek(ctx, c, since) })
	return f
}

// Seek is one step of Acquire. since is the number of stop orders (Life.stops) at the time when the caller began to
// want the server; a stop ordered after that makes Seek fail. With a nil since every earlier stop is ignored. A session
// that is found is counted as used, as by Acquire.
func (s *Server) Seek(ctx context.Context, c Claim, since *uint64) (f Found) {
	f.stops = s.life.stops
	if f.Err = s.Refusal(ctx); f.Err != nil {
		return f
	}
	if since != nil && *since != f.stops {
		f.Err = s.errStoppedInStart(s.stopReason)
		return f
	}
	switch {
	case s.stopping != nil:
		f.wait = s.stopping
	case s.conn != nil && s.conn.session.Broken():
		s.fall(s.conn)
		f.wait = s.stopping
	case s.conn != nil:
		if c == nil || !*c.Leased() {
			s.users++
		}
		if c != nil {
			*c.Leased() = true
		}
		s.supervised.used = true
		f.Session = s.conn.session
		return f
	default:
		a, err := s.nextStart()
		if err != nil {
			f.Err = err
			return f
		}
		s.wait(a)
		f.mine, f.wait = a, a.done
	}
	if c != nil {
		c.Waits()
	}
	return f
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
	s.users++
	return s.conn.session
}

// ReadySince returns when the latest connection became ready, as in ServerInfo. It distinguishes connections.
func (s *Server) ReadySince() time.Time { return s.ready }

// Release ends the use of the connection by c, if it had one, and restarts the idle clock.
func (s *Server) Release(c Claim) {
	if leased := c.Leased(); *leased {
		*leased = false
		s.unused()
	}
	s.noUse()
}

// Unlease ends a use of the connection that was acquired without a claim. It takes the lock.
func (s *Server) Unlease() { s.table.House.Update(s.unused) }

func (s *Server) unused() {
	s.users--
	s.renewIfIdle()
	s.noUse()
}

// wait counts one more waiter for a.
func (s *Server) wait(a *attempt) {
	a.waiters++
	if p := s.supervised.plan; p != nil && p.attempt == a && a.waiters == 1 && !p.byItself {
		s.owner.Changed() // the server has a next start from now on
	}
}

// stopWaiting removes one waiter from a. A start that waits for a person is cancelled with its last waiter, since
// nobody would use the answer. Any other start goes on, because the server will probably be needed soon. It takes the
// lock.
func (s *Server) stopWaiting(a *attempt) {
	s.table.House.Update(func() {
		a.waiters--
		if p := s.supervised.plan; p != nil && p.attempt == a && !p.starts() {
			s.owner.Changed() // there is no next start any more, since nobody waits for it
		}
		if a.waiters == 0 && s.attempt == a && s.stopping == nil && (s.Paused() || s.signingIn()) {
			s.EndStart()
		}
	})
}

// EndStart cancels a start that waits for a person when nobody waits for the server any more.
func (s *Server) EndStart() {
	s.endConnection(nil, &event.CancelCause{Origin: event.OriginParent, Reason: NobodyWaits}, End)
}
