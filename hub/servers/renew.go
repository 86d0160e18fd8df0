package servers

import (
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Offer is called when windows may show more than before. It reconnects legacy servers to which less was declared, and
// starts the eager servers that had found no window to ask in.
func (t *Table) Offer() {
	for _, s := range t.all {
		s.offer()
	}
	t.startLonely()
}

// offer marks s for a reconnect if windows can show more than was declared to it. Servers of the legacy era are told
// the capabilities only once, when they connect. The reconnect waits until nothing uses s.
func (s *Server) offer() {
	if s.conn != nil && s.outgrown(s.conn.client) {
		s.stale = true
		s.renewIfIdle()
	}
}

// outgrown reports whether windows can show more than was declared to the legacy session of c at initialize. The
// declared capabilities are compared, and not those that the revision has: an older revision has fewer kinds, and a new
// connection would not change that.
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

// renewPause delays the reconnect of a server after a question of its own has been answered, because the answer may
// still be on its way.
const renewPause = time.Second

// Answered is called when a question of the server is over, which may have delayed its reconnect.
func (s *Server) Answered() {
	if s.stale {
		time.AfterFunc(renewPause, func() { s.table.House.Update(s.renewIfIdle) })
	}
}

// renewIfIdle reconnects a stale server, unless something uses it. A server is stale if too little was declared to it,
// or if it cannot ask people in the era of its connection.
func (s *Server) renewIfIdle() {
	if !s.stale || s.users > 0 || s.conn == nil || s.table.House.Draining() {
		return
	}
	if s.owner.Use().Asked {
		return // the end of the question calls renewIfIdle again
	}
	s.stale = false
	why := "windows can show more than it was told"
	if s.conn.session.Era() == mcp.Modern {
		why = "it asks in the legacy era alone"
	}
	s.table.Logger.Info("server is connected anew", "server", s.name, "why", why)
	s.endConnection(nil, &event.CancelCause{Origin: event.OriginHost, Reason: "the server is connected anew"}, Again)
}

// TellRoots notifies the legacy servers that the list of workspace folders has changed. It takes the lock.
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
