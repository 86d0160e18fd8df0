package servers

import (
	"errors"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Offer is called when windows may show more than before. Servers of the legacy era are told the capabilities only
// once, when they connect: those to which less was declared are connected anew as soon as nothing uses them.
func (t *Table) Offer() {
	var e core.MoreShown
	for _, s := range t.all {
		if s.conn != nil && s.outgrown(s.conn.client) {
			e.Outgrown = append(e.Outgrown, s.number)
		}
	}
	t.Apply(e)
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
