package hub

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// attempt is one start of a server. Everybody who needs the server waits for the same one.
type attempt struct {
	ctx  context.Context
	stop context.CancelCauseFunc
	err  *event.Error  // set before done is closed; nil = ready
	done chan struct{} // closed by run
	// set before done is closed: it failed for want of a window, and one has come; who waits tries once more
	again   bool
	waiters int      // who waits for it; guarded by Hub.mu
	start   *request // set by beginConnect; guarded by Hub.mu
	// byItself: the hub wants it, whoever else does. Guarded by Hub.mu.
	byItself bool
}

// acquire gives the session of s, connecting it first if need be, and counts the caller as its user: for a request
// until it ends, for others (r is nil) until unlease. The end of ctx ends the wait, not the start that others may wait
// for.
func (h *Hub) acquire(ctx context.Context, s *server, r *request) (*mcp.Session, error) {
	return h.acquireFrom(ctx, s, r, h.sessionOrWait(ctx, s, r, nil))
}

// found is what a look at a server has found: its session, or why there is none, or what is closed when it is worth
// another look.
type found struct {
	session *mcp.Session
	err     error
	wait    <-chan struct{}
	mine    *attempt // what is waited for, if that is a start, which who waits leaves then
	stops   uint64   // how often the server had been ordered to stop
}

func (h *Hub) acquireFrom(ctx context.Context, s *server, r *request, f found) (*mcp.Session, error) {
	for f.session == nil && f.err == nil {
		select {
		case <-f.wait:
		case <-ctx.Done():
		}
		if f.mine != nil {
			h.leave(s, f.mine)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if f.mine != nil && f.mine.err != nil && !f.mine.again {
			return nil, f.mine.err
		}
		f = h.sessionOrWait(ctx, s, r, &f.stops)
	}
	return f.session, f.err
}

func (h *Hub) sessionOrWait(ctx context.Context, s *server, r *request, since *uint64) found {
	defer h.lock().unlock()
	return h.seek(ctx, s, r, since)
}

// seek looks at s for somebody who wants it since it had been ordered to stop so often; nil: since now. An order that
// comes meanwhile wins. h.mu is held.
func (h *Hub) seek(ctx context.Context, s *server, r *request, since *uint64) (f found) {
	f.stops = s.life.Stops()
	if f.err = h.refuses(ctx, s); f.err != nil {
		return f
	}
	if since != nil && *since != f.stops {
		f.err = errStoppedInStart(s, s.stopReason)
		return f
	}
	switch {
	case s.stopping != nil:
		f.wait = s.stopping
	case s.conn != nil && s.conn.session.Broken():
		h.fall(s.conn)
		f.wait = s.stopping
	case s.conn != nil:
		if r == nil || !r.leased {
			s.users++
		}
		if r != nil {
			r.leased = true
		}
		s.supervised.used = true
		f.session = s.conn.session
		return f
	default:
		a, err := h.nextStart(s)
		if err != nil {
			f.err = err
			return f
		}
		h.wait(s, a)
		f.mine, f.wait = a, a.done
	}
	if r != nil {
		h.moveTo(r, event.StateConnecting)
	}
	return f
}

// renewed gives the session that takes the place of one that its server has forgotten. The caller is a user of the
// server already.
func (h *Hub) renewed(ctx context.Context, s *server, r *request, session *mcp.Session) (*mcp.Session, error) {
	select {
	case <-session.Ending(): // it is told of a moment after the refusal; until then acquire would give it once more
	case <-ctx.Done():
	}
	next, err := h.acquire(ctx, s, r)
	if err == nil && r == nil {
		h.unlease(s) // counted before
	}
	return next, err
}

// leave takes back that somebody waits for a start. A start that waits for a person ends with its last waiter: nobody
// would want the answer any more. Any other start goes on, as its server will be of use soon.
func (h *Hub) leave(s *server, a *attempt) {
	defer h.lock().unlock()
	a.waiters--
	if p := s.supervised.plan; p != nil && p.attempt == a && !p.starts() {
		h.changed(s) // nobody waits for the next start any more
	}
	if a.waiters == 0 && s.attempt == a && s.stopping == nil && s.asksPerson() {
		h.endConnection(s, nil, &event.CancelCause{Origin: event.OriginParent, Reason: nobodyWaits}, servers.End)
	}
}

func (h *Hub) refuses(ctx context.Context, s *server) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if h.draining {
		return errDraining()
	}
	if err := s.usable(); err != nil {
		return err
	}
	return h.launchRefused(s)
}

// release ends r's use of its connection. h.mu is held.
func (h *Hub) release(r *request) {
	if r.leased {
		r.leased = false
		h.unused(r.server)
	}
	h.noUse(r.server)
}

func (h *Hub) unlease(s *server) {
	defer h.lock().unlock()
	h.unused(s)
}

func (h *Hub) unused(s *server) {
	s.users--
	h.renewIfIdle(s)
	h.noUse(s)
}

// beginConnect starts s. The start is a request of its own that everybody sees and nobody can cancel. h.mu is held.
func (h *Hub) beginConnect(s *server) {
	a := s.takePlan()
	if a == nil {
		a = newAttempt()
	}
	a.ctx, a.stop = context.WithCancelCause(context.Background())
	s.attempt = a
	s.supervised.lookedAt = h.company
	s.lastError, s.fault, s.stale = "", "", false
	h.transition(s, servers.Start)
	start := &request{id: h.mint("start"), method: "initialize", direction: event.Outgoing, server: s, uncancellable: true}
	a.start = start
	h.register(context.Background(), start)
	conf := s.conf // of now: a reload may replace it
	limit := DefaultConnectTimeout
	if conf.Timeouts.Connect != nil {
		limit = *conf.Timeouts.Connect
	}
	key, where := settingOf(conf, "timeouts.connect")
	late := event.Fail(event.CodeDeadlineExceeded, event.ReasonConnectTimeout,
		[]string{"server", s.name, "setting", "timeouts.connect",
			"limit", limit.String()},
		"server %q was not ready within %s; raise %s%s", s.name, limit, key, where)
	ctx, expire := context.WithCancelCause(a.ctx)
	start.clock.total, start.expire = limit, func() { expire(late) }
	h.moveTo(start, event.StateConnecting)
	h.wind(start, time.Now())
	h.work.Go(func() {
		defer expire(nil)
		h.run(ctx, s, conf, a, start)
	})
}

// run connects s within ctx and stays with the connection until it is over.
func (h *Hub) run(ctx context.Context, s *server, conf config.Server, a *attempt, start *request) {
	c := &connection{hub: h, server: s}
	var remembered mcp.Era
	h.update(func() { remembered = s.remembered })
	var session *mcp.Session
	resolved, err := h.ready(ctx, s, conf)
	if err == nil {
		session, err = mcp.Connect(ctx, mcp.Options{
			Server: s.name, Open: h.opener(s, resolved.Server), Era: conf.Era, Remembered: remembered,
			Client:       mcp.Implementation{Name: "mcphub", Title: "McpHub", Version: h.version},
			Capabilities: c.capabilities, Handler: c, Logger: h.log,
			Tap: h.tap, Trace: start.trace, NewTrace: h.newTrace, Outputs: s.costs.outputs, Lists: s.costs.lists,
			Results: s.costs.results,
			OnBound: func(e *mcp.BoundError) { c.tellBound("questionTooLarge", e.Text) },
		})
	}
	stopped := false
	h.update(func() {
		s.attempt = nil
		stopped = a.ctx.Err() != nil
		switch {
		case err == nil && !stopped:
			h.up(s, c, session)
			h.end(start, ending{state: event.StateDone})
		case stopped: // StopServer and its kin: the stop waits for done
			if c, ok := errors.AsType[*event.CancelCause](context.Cause(a.ctx)); ok {
				a.err = errStoppedInStart(s, c.Reason)
			}
			h.end(start, ending{state: event.StateFailed, err: a.err})
		default:
			a.err = startError(s, ctx, err)
			a.again = h.overlooked(s, a.err)
			h.startFailed(ctx, s, err, a.err)
			h.end(start, ending{state: event.StateFailed, err: a.err})
		}
		h.startNextEager()
	})
	if stopped && session != nil {
		_ = session.Close(context.Cause(a.ctx)) // nothing to tell: it was to be stopped
	}
	a.stop(nil)
	if stopped {
		h.update(func() { h.stopped(s) })
	}
	close(a.done)
	if err == nil && !stopped {
		<-session.Ending()
		h.update(func() { h.fall(c) })
		<-session.Done()
		h.fallen(c)
		_ = session.Close(session.Err()) // frees what a session that ended by itself still holds
	}
}

// up makes a connection the server's. h.mu is held.
func (h *Hub) up(s *server, c *connection, session *mcp.Session) {
	c.session = session
	s.conn, s.ready = c, time.Now()
	s.remembered = session.Era()
	s.supervised.wasReady = true
	s.stale = h.outgrown(c)
	h.resubscribe(s, session)
	h.log.Info("server ready", "server", s.name, "era", session.Era().String(), "revision", session.Revision(),
		"pid", s.pid)
	h.transition(s, servers.Up)
	h.renewIfIdle(s)
	h.watchIdle(s)
	h.watchStarted(s)
}

// fall takes a connection that ended by itself from its server: nobody gets it any more. Its calls fail by themselves,
// what it asked is closed here. Who needs the server waits until the old process is gone. h.mu is held.
func (h *Hub) fall(c *connection) {
	s := c.server
	if s.conn != c {
		return // taken before: a stop is under way, or somebody else saw it fall
	}
	c.fell = true
	s.conn, s.stopping = nil, make(chan struct{})
	h.watchIdle(s)
	h.closePromptsOf(c, closing{cause: event.CauseServerGone, origin: event.OriginTransport, reason: connectionEnded,
		action: event.ActionDismiss})
	h.transition(s, servers.Fall)
}

// fallen is the end of a fall: how the process ended is known now.
func (h *Hub) fallen(c *connection) {
	defer h.lock().unlock()
	s := c.server
	if !c.fell {
		return
	}
	h.log.Warn("server gone", "server", s.name)
	h.lost(s, c.session.Err())
	h.stopped(s)
}

// startError says why a start failed.
func startError(s *server, ctx context.Context, err error) *event.Error {
	if he, ok := errors.AsType[*event.Error](context.Cause(ctx)); ok {
		if se, ok := errors.AsType[*mcp.StartError](err); ok && se.Ended != "" {
			late := *he
			late.Message += "; " + s.quote(se.Ended)
			return &late
		}
		return he
	}
	if e := memoryError(s, "", err); e != nil {
		return e
	}
	if e := signInError(s, err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name}, "%s",
		s.quote(err.Error()))
	e.Err = err
	return e
}
