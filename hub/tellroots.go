package hub

import (
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// tellRoots tells legacy servers that the list of workspace folders changed.
func (h *Hub) tellRoots() {
	var sessions []*mcp.Session
	h.update(func() {
		for _, s := range h.servers {
			if s.Up() && s.Session().Era() == mcp.Legacy {
				sessions = append(sessions, s.Session())
			}
		}
	})
	for _, session := range sessions {
		if err := session.RootsChanged(); err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
			h.log.Warn("a server could not be told of changed roots", "error", err.Error())
		}
	}
}
