package servers

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/redact"
)

// DefaultConnectTimeout limits a start of a server, and each listing, unless timeouts.connect says otherwise. It is
// long because npx and uvx download on their first start.
const DefaultConnectTimeout = 60 * time.Second

// attempt is one start of a server.
type attempt struct {
	number core.ConnectionNumber
	ctx    context.Context
	stop   context.CancelCauseFunc
	start  Start
}

// ConnectLimit returns the time that the server has for a start or a listing (0 is no limit), and the error for
// exceeding it. did is the error's verb phrase, such as "was not ready".
func (s *Server) ConnectLimit(did string) (limit time.Duration, late *event.Error) {
	limit = DefaultConnectTimeout
	if l := s.conf.Timeouts.Connect; l != nil {
		limit = *l
	}
	key, where := SettingOf(&s.conf, "timeouts.connect")
	return limit, event.Fail(event.CodeDeadlineExceeded, event.ReasonConnectTimeout,
		[]string{"server", s.name, "setting", "timeouts.connect", "limit", limit.String()},
		"server %q %s within %s; raise %s%s", s.name, did, limit, key, where)
}

// run connects s within ctx, and then watches the connection until it has ended.
func (s *Server) run(ctx context.Context, conf config.Server, a *attempt) {
	house := s.table.House
	var c *connection
	session, client, err := s.connect(ctx, conf, a)
	stopped := false
	house.Update(func() {
		s.attempt = nil
		switch stopped = a.ctx.Err() != nil; {
		case stopped:
			var failed *event.Error
			if c, ok := errors.AsType[*event.CancelCause](context.Cause(a.ctx)); ok {
				failed = s.errStoppedInStart(c.Reason)
			}
			a.start.End(failed, core.StartOver{})
		case err == nil:
			c = &connection{session: session, client: client, number: a.number}
			s.up(c, a.start)
		default:
			s.startFailed(ctx, a.start, err)
		}
	})
	if stopped && session != nil {
		_ = session.Close(context.Cause(a.ctx)) // an error is of no interest, since the server was to be stopped
	}
	a.stop(nil)
	if stopped {
		house.Update(func() { s.ended(core.ServerEnded{Connection: a.number}) })
	}
	if c != nil {
		<-session.Ending()
		house.Update(func() { s.fall(c) })
		<-session.Done()
		house.Update(func() { s.fallen(c) })
		_ = session.Close(session.Err()) // frees what a session that ended by itself still holds
	}
}

// connect opens a session of s. It is called without the lock.
func (s *Server) connect(ctx context.Context, conf config.Server, a *attempt) (*mcp.Session, Client, error) {
	resolved, err := s.owner.Prepare(ctx, conf)
	if err != nil {
		return nil, nil, err
	}
	known := s.table.legacy.lastEra(conf.LaunchKey())
	var client Client
	var o mcp.Options
	s.table.House.Update(func() {
		client, o = s.owner.Connect(a.start, a.number)
		if o.LastEra = s.era; s.era == 0 {
			o.LastEra = known
		}
	})
	o.Server, o.Era, o.Open = s.name, conf.Era, s.opener(&resolved.Server)
	o.Handler, o.Capabilities, o.Logger = client, client.Capabilities, s.table.Logger
	o.Lists, o.Results = s.accounts.Lists, s.accounts.Results
	o.Printed, o.OnNoise = redact.NewLines(s.table.Redactor).Line, func(text string) { s.noisy(a, text) }
	session, err := mcp.Connect(ctx, o)
	return session, client, err
}

// noisy shows windows the text that a starting server has written where an MCP message was expected; the start goes on.
// It takes the lock.
func (s *Server) noisy(a *attempt, text string) {
	text = s.Quote(text)
	s.table.Logger.Warn("server writes no messages", "server", s.name, "text", text)
	s.table.House.Update(func() {
		if s.attempt == a && s.Now().State == event.ServerConnecting {
			s.lastError = text
			s.changed()
		}
	})
}

// up makes c the connection of s.
func (s *Server) up(c *connection, start Start) {
	session := c.session
	s.conn, s.lastError, s.era = c, "", session.Era()
	s.knowsVersion(session)
	s.resubscribe(session)
	s.table.Logger.Info("server ready", "server", s.name, "era", session.Era().String(), "revision", session.Revision(),
		"pid", s.pid)
	start.End(nil, core.StartOver{Outgrown: s.outgrown(c.client)})
	s.owner.Up()
}
