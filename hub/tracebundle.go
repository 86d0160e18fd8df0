package hub

import (
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/outcome"
)

// TraceBundle gives what belongs into a bug report besides the timelines: JSON members of one object. It holds no
// arguments, environment, headers and URLs with queries, and no words of a server; whatever secret got into it all the
// same is taken out at the end.
func (h *Hub) TraceBundle() map[string]any { return h.redactor.Members(h.about()) }

// about is that before secrets are taken out.
func (h *Hub) about() map[string]any {
	st := h.lock()
	defer st.unlock()
	b := &journal.Bundle{Version: h.version, HubID: h.id, Began: h.record.Began(), Problems: h.config.Problems(),
		OpenRequests: len(st.requests), Windows: h.windows.Len()}
	for _, s := range st.servers {
		b.Servers = append(b.Servers, journal.BundledServer{ServerInfo: s.info(), Fault: outcome.Fault(s.Cause()),
			Connected: s.Up()})
	}
	return b.Members()
}
