package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Outgrown tells whether windows can show more than when a legacy session was offered it: those declare once, at
// initialize. What was offered counts, not what the revision made of it: an old revision knows fewer kinds, and
// connecting anew would not change that. Hub.mu is held.
func (c *connection) Outgrown() bool {
	session := c.server.Session()
	if session == nil || session.Era() != mcp.Legacy {
		return false
	}
	was, is := c.offered, c.hub.windows.Capabilities()
	for name := range is.Extensions {
		if _, offered := was.Extensions[name]; !offered {
			return true
		}
	}
	return is.Sampling && !was.Sampling || is.ElicitationForm && !was.ElicitationForm ||
		is.ElicitationURL && !was.ElicitationURL || is.SamplingTools && !was.SamplingTools
}

// capabilitiesGrew offers more to the sessions that were offered less than windows can show now. h.mu is held.
func (h *Hub) capabilitiesGrew() {
	for _, s := range h.servers {
		s.Offer()
	}
	h.table.StartLonely()
}

// renewPause is how long a server that asked on its own account is left alone after that, before it is connected anew:
// its answer is on its way.
const renewPause = time.Second
