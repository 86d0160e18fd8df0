package hub

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// foundSession is the result of look: a session, an error, or a wait.
type foundSession struct {
	session *mcp.Session
	err     error
	wait    *serverWait
}

// serverWait is the wait of a caller for a server. Its results are set before done is closed.
type serverWait struct {
	n       core.WaiterNumber
	of      *server
	done    chan struct{}
	session *mcp.Session
	err     error
}

// acquire returns the session of s, connecting it first if necessary. The caller counts as a user of it: the request r
// until it ends, any other caller, with r 0, until release. The end of ctx ends only this caller's wait, not the start.
// It takes the lock.
func (s *server) acquire(ctx context.Context, r core.RequestNumber) (*mcp.Session, error) {
	return s.await(ctx, r, s.look(ctx, r, 0))
}

// await waits for what look has not found. It takes the lock.
func (s *server) await(ctx context.Context, r core.RequestNumber, f foundSession) (*mcp.Session, error) {
	if f.wait == nil {
		return f.session, f.err
	}
	select {
	case <-f.wait.done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		s.hub.within(func() { s.leave(f.wait, r) })
		return nil, context.Cause(ctx)
	}
	return f.wait.session, f.wait.err
}

// leave ends a wait whose caller has gone.
func (s *server) leave(w *serverWait, r core.RequestNumber) {
	st := s.hub.held()
	switch {
	case st.waits[w.n] != nil:
		delete(st.waits, w.n)
		st.apply(core.WaiterLeft{Server: s.number, Waiter: w.n,
			SigningIn: s.auth != nil && s.auth.signIn.State() == event.SignInAsking})
	case w.session != nil && r == 0:
		s.unlease()
	}
}

// look is the first step of acquire. If since is not 0, it is how often a stop had been ordered when the caller began
// to want the server: a stop ordered after that makes look fail. It takes the lock.
func (s *server) look(ctx context.Context, r core.RequestNumber, since uint64) (f foundSession) {
	if err := s.refreshPolicies(ctx); err != nil {
		return foundSession{err: err}
	}
	s.hub.within(func() { f = s.lookNow(ctx, r, since) })
	return f
}

// lookNow is look with the lock held.
func (s *server) lookNow(ctx context.Context, r core.RequestNumber, since uint64) (f foundSession) {
	if f.err = s.refusal(ctx); f.err != nil {
		return f
	}
	st, e := s.hub.held(), core.ServerWanted{Server: s.number, Request: r, Since: since}
	if s.settle(); s.conn != nil && since == 0 {
		st.apply(e)
		f.session = s.conn.session
		return f
	}
	st.waited++
	f.wait = &serverWait{n: st.waited, of: s, done: make(chan struct{})}
	st.waits[f.wait.n] = f.wait
	e.Waiter = f.wait.n
	st.apply(e)
	return f
}

// settle notices that the session has ended.
func (s *server) settle() {
	if s.conn != nil && s.conn.session.Broken() {
		s.fall(s.conn)
	}
}

// wake ends a wait.
func (st *state) wake(e core.WaiterWoken) {
	w := st.waits[e.Waiter]
	s := w.of
	delete(st.waits, e.Waiter)
	switch e.Why {
	case core.WakeReady:
		w.session = s.conn.session
	case core.WakeFailed:
		w.err = s.startErr
	case core.WakeStopped:
		if w.err = s.errStoppedInStart(e.Reason); s.now().Refusal != nil {
			w.err = s.usable()
		}
	case core.WakeGivenUp:
		w.err = s.givenUp()
	case core.WakeUnusable:
		w.err = s.usable()
	case core.WakeDraining:
		w.err = event.ErrDraining()
	case core.WakeDeclined:
		w.err = s.launch.errDeclined("the user declined to start it", s.conf)
	}
	close(w.done)
}

// refusal returns the error for a caller that wants s now although it cannot be had, or nil if it can.
func (s *server) refusal(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.hub.held().core.Draining() {
		return event.ErrDraining()
	}
	if err := s.usable(); err != nil {
		return err
	}
	return nil
}

// renew waits for the end of a session that the server has forgotten, and returns its successor. The caller already
// counts as a user of the server, and goes on counting once. It takes the lock.
func (s *server) renew(ctx context.Context, r core.RequestNumber, session *mcp.Session) (*mcp.Session, error) {
	select {
	case <-session.Ending(): // it follows the refusal a moment later; until then acquire would return the same session
	case <-ctx.Done():
	}
	next, err := s.acquire(ctx, r)
	if err == nil && r == 0 {
		s.release() // the caller was counted already
	}
	return next, err
}

// join returns the session of a connected server and counts the caller as a user of it until release. It returns nil,
// and starts nothing, when the server is not connected.
func (s *server) join() *mcp.Session {
	if s.conn == nil || s.conn.session.Broken() {
		return nil
	}
	s.hub.held().apply(core.ServerWanted{Server: s.number})
	return s.conn.session
}

// readySince returns when the latest connection became ready, as in ServerInfo. It distinguishes connections.
func (s *server) readySince() time.Time { return s.now().Ready }

// release ends a use of the connection that is not that of a request. It takes the lock.
func (s *server) release() { s.hub.within(s.unlease) }

func (s *server) unlease() { s.hub.held().apply(core.ServerReleased{Server: s.number}) }

// startAsks ends the start of s, which is about to ask a person, if nobody wants the server any more.
func (s *server) startAsks() { s.hub.held().apply(core.StartAsks{Server: s.number}) }

// questionPause measures the time during which a person is asked about the server. The server's limits do not count
// that time.
type questionPause struct {
	open  int
	since time.Time // when open became 1
	spent time.Duration
}

// pause notes that a question about the server has opened (by is +1) or closed (-1).
func (s *server) pause(now time.Time, by int) {
	p := &s.paused
	if p.open == 0 {
		p.since = now
	}
	if p.open += by; p.open == 0 {
		p.spent += now.Sub(p.since)
	}
}

func (p *questionPause) total(now time.Time) time.Duration {
	if p.open > 0 {
		return p.spent + now.Sub(p.since)
	}
	return p.spent
}

// pauseLook is how often an expired limit checks whether the question has been answered.
const pauseLook = time.Second

// within returns a context that ends with the cause late after limit (0 for none), not counting the time during which a
// person is asked about the server. The caller must call stop. It takes the lock.
func (s *server) within(ctx context.Context, limit time.Duration, late *event.Error) (_ context.Context, stop func()) {
	limited, end := context.WithCancelCause(ctx)
	if limit <= 0 {
		return limited, func() { end(nil) }
	}
	start := time.Now()
	var before time.Duration
	s.hub.within(func() { before = s.paused.total(start) })
	var look func()
	var timer *time.Timer
	armed := make(chan struct{})
	look = func() {
		<-armed
		var left time.Duration
		var asking bool
		s.hub.within(func() {
			now := time.Now()
			left = limit - (now.Sub(start) - (s.paused.total(now) - before))
			asking = s.paused.open > 0
		})
		switch {
		case limited.Err() != nil: // stop was called
		case asking:
			timer.Reset(max(left, pauseLook))
		case left > 0:
			timer.Reset(left)
		default:
			end(late)
		}
	}
	timer = time.AfterFunc(limit, look)
	close(armed)
	return limited, func() {
		end(nil)
		timer.Stop()
	}
}
