package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// defaultConnectTimeout limits a start of a server, and each listing, unless timeouts.connect says otherwise. It is
// long because npx and uvx download on their first start.
const defaultConnectTimeout = 60 * time.Second

// startAttempt is one start of a server.
type startAttempt struct {
	number  core.ConnectionNumber
	ctx     context.Context
	stop    context.CancelCauseFunc
	request *request // which represents the start to people
}

// connectLimit returns the time that the server has for a start or a listing (0 is no limit), and the error for
// exceeding it. did is the error's verb phrase, such as "was not ready".
func (s *server) connectLimit(did string) (limit time.Duration, late *event.Error) {
	limit = defaultConnectTimeout
	if l := s.conf.Timeouts.Connect; l != nil {
		limit = *l
	}
	key, where := settingOf(&s.conf, "timeouts.connect")
	return limit, event.Fail(event.CodeDeadlineExceeded, event.ReasonConnectTimeout,
		[]string{"server", s.name, "setting", "timeouts.connect", "limit", limit.String()},
		"server %q %s within %s; raise %s%s", s.name, did, limit, key, where)
}

// beginStart registers the request that represents a start. expire ends the start when limit is over, not counting the
// time in which a person is asked; 0 is no limit.
func (s *server) beginStart(limit time.Duration, expire func()) *request {
	r := &request{method: "initialize", direction: event.Outgoing, server: s, expire: expire, ctx: context.Background()}
	s.hub.held().make(r, core.RequestMade{Prefix: "start", Server: s.number, Name: s.name, Start: true, Total: limit})
	return r
}

// end ends the request of a start, and completes over; a nil err means that the server is ready.
func (a *startAttempt) end(err *event.Error, over core.StartOver) {
	r, e := a.request, ending{state: event.StateDone}
	if err != nil {
		e = ending{state: event.StateFailed, err: err}
	}
	r.ending = &e
	over.Request, over.Failed, over.Lost = r.number, err != nil, lostConnection(err)
	r.server.hub.held().apply(over)
}

// run connects s within ctx, and then watches the connection until it has ended.
func (s *server) run(ctx context.Context, conf config.Server, a *startAttempt) {
	h := s.hub
	c, err := s.connect(ctx, conf, a)
	stopped := false
	h.within(func() {
		s.attempt = nil
		switch stopped = a.ctx.Err() != nil; {
		case stopped:
			var failed *event.Error
			if c, ok := errors.AsType[*event.CancelCause](context.Cause(a.ctx)); ok {
				failed = s.errStoppedInStart(c.Reason)
			}
			a.end(failed, core.StartOver{})
		case err == nil:
			s.connected(c, a)
		default:
			s.startFailed(ctx, a, err)
		}
	})
	a.stop(nil)
	switch {
	case stopped:
		if c != nil {
			_ = c.session.Close(context.Cause(a.ctx)) // an error is of no interest, since the server was to be stopped
		}
		h.within(func() { s.ended(core.ServerEnded{Connection: a.number}) })
	case err == nil:
		<-c.session.Ending()
		h.within(func() { s.fall(c) })
		<-c.session.Done()
		h.within(func() { s.fallen(c) })
		_ = c.session.Close(c.session.Err()) // frees what a session that ended by itself still holds
	}
}

// connect opens a session of s. It is called without the lock.
func (s *server) connect(ctx context.Context, conf config.Server, a *startAttempt) (*connection, error) {
	resolved, err := s.launch.prepare(ctx, conf, false)
	if err != nil {
		return nil, err
	}
	h := s.hub
	known := h.legacy.lastEra(conf.LaunchKey())
	c := &connection{allowance: s.allowance, hub: h, number: a.number, server: s}
	o := mcp.Options{
		Server: s.name, Era: conf.Era, Open: s.opener(&resolved.Server), Logger: h.log,
		Client:  mcp.Implementation{Name: "mcphub", Title: "McpHub", Version: h.version},
		Handler: c, Capabilities: c.capabilities, Tap: h.tap, NewTrace: h.newTrace,
		Lists: s.allowance.lists, Results: s.allowance.results, Outputs: s.allowance.outputs,
		OnBound: func(e *mcp.BoundError) { s.allowance.overBound("questionTooLarge", e.Text) },
		Printed: redact.NewLines(h.redactor).Line, OnNoise: func(text string) { s.noisy(a, text) },
		OnStray: s.strays,
	}
	h.within(func() {
		o.Trace = a.request.trace
		if o.LastEra = s.lastEra; s.lastEra == 0 {
			o.LastEra = known
		}
	})
	c.session, err = mcp.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// noisy shows windows the text that a starting server has written where an MCP message was expected; the start goes on.
// It takes the lock.
func (s *server) noisy(a *startAttempt, text string) {
	text = s.quote(text)
	s.hub.log.Warn("server writes no messages", "server", s.name, "text", text)
	s.hub.within(func() {
		if s.attempt == a && s.now().State == event.ServerConnecting {
			s.lastError = text
			s.changed()
		}
	})
}

// strays shows windows the text that a server has written among its messages, once for each session. It takes the lock.
func (s *server) strays(text string) {
	text = s.quote(text)
	s.hub.log.Warn("server writes what is no message", "server", s.name, "text", text)
	s.hub.within(func() { s.allowance.note("noMessage", map[string]string{"text": text}) })
}

// connected makes c the connection of s.
func (s *server) connected(c *connection, a *startAttempt) {
	session := c.session
	s.conn, s.lastError, s.lastEra = c, "", session.Era()
	s.knowsVersion(session)
	s.resubscribe(session)
	s.hub.log.Info("server ready", "server", s.name, "era", session.Era().String(), "revision", session.Revision(),
		"pid", s.pid)
	a.end(nil, core.StartOver{Outgrown: s.outgrown(c)})
	s.hub.config.Started(s)
}

// opener returns the Opener of s, which records the process and the transport that it opens. It is called without the
// lock.
func (s *server) opener(conf *config.Server) mcp.Opener { return s.noting(s.reach(conf)) }

// noting wraps open, and its fallback, so that what they open is recorded in s.
func (s *server) noting(open mcp.Opener) mcp.Opener {
	return func(ctx context.Context) (*mcp.Link, error) {
		link, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if link.Fallback != nil {
			link.Fallback = s.noting(link.Fallback)
		}
		s.hub.within(func() { s.opened(link) })
		return link, nil
	}
}

func (s *server) opened(link *mcp.Link) {
	s.pid, s.exit = link.PID, link.Exit
	switch {
	case link.LegacyOnly:
		s.reached = event.TransportSSE
	case link.Exchanges != nil:
		s.reached = event.TransportHTTP
	}
	if link.Kill != nil {
		s.hub.held().kills[s] = link.Kill
	}
}

// reach returns the Opener that the config of s asks for.
func (s *server) reach(conf *config.Server) mcp.Opener {
	h := s.hub
	lines := redact.NewLines(h.redactor) // not concurrent: lines arrive one by one, in their order
	stderr := func(line string) { s.stderrLine(lines.Line(line)) }
	if h.open != nil {
		if open := h.open(*conf, stderr); open != nil {
			return open
		}
	}
	if conf.URL == "" {
		return mcp.Stdio(process.Command{
			Path: conf.Command, Program: conf.Program, Args: conf.Args, Dir: conf.Dir, OnStderr: stderr,
			Containment: h.contained, Env: conf.Environ, Searched: conf.Searched,
			Grace: process.Grace{Stdin: conf.Grace.Stdin, Terminate: conf.Grace.Terminate, Kill: conf.Grace.Kill},
		}, conf.MaxMessageBytes)
	}
	o := transport.HTTPOptions{URL: conf.URL, Header: http.Header{}, RoundTripper: h.roundTripper,
		MaxMessageBytes: conf.MaxMessageBytes, Results: s.allowance.results, Logger: h.log.With("server", s.name)}
	for name, value := range conf.Header {
		o.Header.Set(name, value)
	}
	var err error
	if o.Auth, err = s.authorizer(conf); err != nil {
		return func(context.Context) (*mcp.Link, error) { return nil, err }
	}
	switch {
	case conf.Transport == config.TransportHTTP:
		return mcp.HTTP(o)
	case conf.Transport == config.TransportSSE:
		return mcp.SSE(o)
	}
	return mcp.AnyHTTP(o)
}

// stderrLine keeps a line of stderr, whose secrets have been removed, and passes it to the windows.
func (s *server) stderrLine(line string) {
	s.hub.within(func() { s.keepStderr(line) })
	s.allowance.stderr(line)
}

// fall detaches c, a connection that ended by itself, from s. From then on nobody acquires it, and callers that need s
// wait until the old process has ended (see fallen). The calls on c fail by themselves.
func (s *server) fall(c *connection) {
	if s.conn != c {
		return // a stop is under way, or another caller has detached it
	}
	c.fell = true
	s.conn = nil
	s.hub.held().apply(core.ConnectionEnded{Connection: c.number, Server: s.number})
}

// fallen completes fall once the session is done, when it is known how the process ended.
func (s *server) fallen(c *connection) {
	if !c.fell {
		return
	}
	s.hub.log.Warn("server gone", "server", s.name)
	s.noteExit()
	err := c.session.Err()
	if !s.now().Halted { // else it was to be stopped, and now it is
		s.lastError, s.cause = s.quote(fmt.Sprint(err)), err
		s.how = s.lastError
		if ended, ok := errors.AsType[*mcp.EndedError](err); ok {
			plain := *ended
			plain.Ended = ""
			s.how = s.quote(plain.Error())
		}
	}
	s.ended(core.ServerEnded{Connection: c.number, Fell: true, Expired: errors.Is(err, transport.ErrSessionExpired)})
}

// startFailed says how a start has failed: err is the cause.
func (s *server) startFailed(ctx context.Context, a *startAttempt, err error) {
	s.noteExit()
	delete(s.hub.held().kills, s)
	e := s.startError(ctx, err)
	_, hopeless := errors.AsType[*process.StartError](err) // no such program or directory: each try fails the same way
	f := core.Failure{Hopeless: hopeless, NobodyAsked: e.Reason == event.ReasonNoApprover}
	switch e.Reason { // every other reason is a missing answer of a person, or no fault of the server
	case event.ReasonServerFailed, event.ReasonConnectTimeout:
		f.Counts = true
	}
	s.how = e.Message
	if se, ok := errors.AsType[*mcp.StartError](err); ok && e.Reason == event.ReasonServerFailed {
		s.how = s.quote("it did not start: " + se.How())
	}
	if he, ok := errors.AsType[*event.Error](context.Cause(ctx)); ok && e.Reason == event.ReasonConnectTimeout {
		s.how = he.Message
	}
	if se, ok := errors.AsType[*mcp.StartError](err); ok && se.Noise != "" {
		s.how = s.quote("it did not start: " + se.Noise)
	}
	s.lastError, s.cause, s.startErr = e.Message, e, e
	a.end(e, core.StartOver{Failure: f})
}

// noteExit keeps the exit status of the process that has ended, for error messages and for the windows.
func (s *server) noteExit() {
	if s.exit == nil {
		return
	}
	if text := s.exit(); text != "" {
		s.lastExit = bounds.Printable(text)
	}
	s.exit = nil
}
