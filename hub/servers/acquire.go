package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// NobodyWaits is why a question ends, and a start that waits for it.
const NobodyWaits = "nobody waits for the answer any more"

// Found is what a look at a server has found: its session, or why there is none, or what has to be waited for.
type Found struct {
	Session *mcp.Session
	Err     error
	wait    <-chan struct{} // closed when it is worth another look
	mine    *attempt        // what is waited for, if that is a start, which who waits leaves then
	stops   uint64          // how often the server had been ordered to stop
}

// Acquire gives the session of s, connecting it first if need be, and counts the caller as its user: a claim until
// Release, others (c is nil) until Unlease. The end of ctx ends the wait, not the start that others may wait for. It
// takes the lock.
func (s *Server) Acquire(ctx context.Context, c Claim) (*mcp.Session, error) {
	return s.Await(ctx, c, s.look(ctx, c, nil))
}

// Await is Acquire for who has looked already. It takes the lock.
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

// Seek looks at s for somebody who wants it since it had been ordered to stop so often (Life.Stops); nil: since now. An
// order that comes meanwhile wins. A session that it finds is leased as Acquire does it.
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

// Refusal tells why nobody may have the server now, nil otherwise.
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

// Renew gives the session that takes the place of one that its server has forgotten. The caller is a user of the server
// already. It takes the lock.
func (s *Server) Renew(ctx context.Context, c Claim, session *mcp.Session) (*mcp.Session, error) {
	select {
	case <-session.Ending(): // it is told of a moment after the refusal; until then Acquire would give it once more
	case <-ctx.Done():
	}
	next, err := s.Acquire(ctx, c)
	if err == nil && c == nil {
		s.Unlease() // counted before
	}
	return next, err
}

// Join gives the session of a server that is up and counts the caller as its user until Unlease; nil: it is not up, and
// is not started for this.
func (s *Server) Join() *mcp.Session {
	if s.conn == nil || s.conn.session.Broken() {
		return nil
	}
	s.users++
	return s.conn.session
}

// ReadySince is when the connection that is up became ready, as ServerInfo tells it. It tells connections apart.
func (s *Server) ReadySince() time.Time { return s.ready }

// Release ends the use of the connection by a claim.
func (s *Server) Release(c Claim) {
	if leased := c.Leased(); *leased {
		*leased = false
		s.unused()
	}
	s.noUse()
}

// Unlease ends a use of the connection that is no claim's. It takes the lock.
func (s *Server) Unlease() { s.table.House.Update(s.unused) }

func (s *Server) unused() {
	s.users--
	s.renewIfIdle()
	s.noUse()
}

// wait counts somebody who waits for a.
func (s *Server) wait(a *attempt) {
	a.waiters++
	if p := s.supervised.plan; p != nil && p.attempt == a && a.waiters == 1 && !p.byItself {
		s.owner.Changed() // now it has a next start
	}
}

// stopWaiting takes back that somebody waits for a start. A start that waits for a person ends with its last waiter:
// nobody would want the answer any more. Any other start goes on, as its server will be of use soon. It takes the lock.
func (s *Server) stopWaiting(a *attempt) {
	s.table.House.Update(func() {
		a.waiters--
		if p := s.supervised.plan; p != nil && p.attempt == a && !p.starts() {
			s.owner.Changed() // nobody waits for the next start any more
		}
		if a.waiters == 0 && s.attempt == a && s.stopping == nil && (s.Paused() || s.signingIn()) {
			s.EndStart()
		}
	})
}

// EndStart ends a start that waits for a person, whom nobody wants to be asked any more.
func (s *Server) EndStart() {
	s.endConnection(nil, &event.CancelCause{Origin: event.OriginParent, Reason: NobodyWaits}, End)
}
