package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// outgrown tells whether windows can show more than when a legacy session was offered it: those declare once, at
// initialize. What was offered counts, not what the revision made of it: an old revision knows fewer kinds, and
// connecting anew would not change that. h.mu is held.
func (h *Hub) outgrown(c *connection) bool {
	if c.session.Era() != mcp.Legacy {
		return false
	}
	was, is := c.offered, h.capabilitiesNow()
	for name := range is.Extensions {
		if _, offered := was.Extensions[name]; !offered {
			return true
		}
	}
	return is.Sampling && !was.Sampling || is.ElicitationForm && !was.ElicitationForm || is.ElicitationURL &&
		!was.ElicitationURL ||
		is.SamplingTools && !was.SamplingTools
}

// capabilitiesGrew marks the sessions that declared less than windows can show now. h.mu is held.
func (h *Hub) capabilitiesGrew() {
	for _, s := range h.servers {
		if s.conn != nil && h.outgrown(s.conn) {
			s.stale = true
			h.renewIfIdle(s)
		}
	}
	h.startLonely()
}

// renewPause is how long a server that asked on its own account is left alone after that, before it is connected anew:
// its answer is on its way.
const renewPause = time.Second

// renewIfIdle connects a server anew whose session declared too little, once nothing uses it. h.mu is held.
func (h *Hub) renewIfIdle(s *server) {
	if !s.stale || s.users > 0 || s.conn == nil || h.draining {
		return
	}
	for _, r := range h.requests {
		if r.server == s && r.direction == event.Incoming {
			return // it asks on its own account; end looks again
		}
	}
	s.stale = false
	h.log.Info("server is connected anew: windows can show more than it was told", "server", s.name)
	h.endConnection(s, nil, &event.CancelCause{Origin: event.OriginHost, Reason: "the server is connected anew"},
		servers.Again)
}
