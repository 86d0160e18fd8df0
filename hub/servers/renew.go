package servers

import (
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Offer offers more to the sessions that were offered less than windows can show now.
func (t *Table) Offer() {
	for _, s := range t.all {
		s.offer()
	}
	t.startLonely()
}

// offer looks whether more can be offered to the server now than its session was: those of the legacy era are told
// once, when they are connected. It is connected anew when nothing uses it.
func (s *Server) offer() {
	if s.conn != nil && s.outgrown(s.conn.client) {
		s.stale = true
		s.renewIfIdle()
	}
}

// outgrown tells whether windows can show more than when a legacy session was offered it: those declare once, at
// initialize. What was offered counts, not what the revision made of it: an old revision knows fewer kinds, and
// connecting anew would not change that.
func (s *Server) outgrown(c Client) bool {
	if s.conn == nil || s.conn.session.Era() != mcp.Legacy {
		return false
	}
	was, is := c.Offers()
	for name := range is.Extensions {
		if _, offered := was.Extensions[name]; !offered {
			return true
		}
	}
	return is.Sampling && !was.Sampling || is.ElicitationForm && !was.ElicitationForm ||
		is.ElicitationURL && !was.ElicitationURL || is.SamplingTools && !was.SamplingTools
}

// renewPause is how long a server that asked on its own account is left alone after that, before it is connected anew:
// its answer is on its way.
const renewPause = time.Second

// Answered says that a question which the server asked is over: that may have kept it from being connected anew.
func (s *Server) Answered() {
	if s.stale {
		time.AfterFunc(renewPause, func() { s.table.House.Update(s.renewIfIdle) })
	}
}

// renewIfIdle connects a server anew whose session was offered too little, or is of an era in which it cannot ask, once
// nothing uses it.
func (s *Server) renewIfIdle() {
	if !s.stale || s.users > 0 || s.conn == nil || s.table.House.Draining() {
		return
	}
	if s.owner.Use().Asked {
		return // the end of its question looks again
	}
	s.stale = false
	why := "windows can show more than it was told"
	if s.conn.session.Era() == mcp.Modern {
		why = "it asks in the legacy era alone"
	}
	s.table.Logger.Info("server is connected anew", "server", s.name, "why", why)
	s.endConnection(nil, &event.CancelCause{Origin: event.OriginHost, Reason: "the server is connected anew"}, Again)
}

// TellRoots tells legacy servers that the list of workspace folders changed. It takes the lock.
func (t *Table) TellRoots() {
	var sessions []*mcp.Session
	t.House.Update(func() {
		for _, s := range t.all {
			if s.conn != nil && s.conn.session.Era() == mcp.Legacy {
				sessions = append(sessions, s.conn.session)
			}
		}
	})
	for _, session := range sessions {
		if err := session.RootsChanged(); err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
			t.Logger.Warn("a server could not be told of changed roots", "error", err.Error())
		}
	}
}
