package hub

import (
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/outcome"
)

// TraceBundle returns what a bug report needs besides the timelines, as the JSON members of one object. It holds no
// arguments, environments, headers or URLs with queries, and no text of a server. Secrets that are in it nevertheless
// are removed at the end.
func (h *Hub) TraceBundle() map[string]any { return h.redactor.Members(h.about()) }

// about returns the content of TraceBundle before the secrets are removed.
func (h *Hub) about() map[string]any {
	st := h.lock()
	defer st.unlock()
	b := &journal.Bundle{Version: h.version, HubID: h.id, Began: h.record.Began(), Problems: h.config.Problems(),
		OpenRequests: st.core.Len(), Windows: h.windows.Len()}
	for _, s := range st.servers {
		b.Servers = append(b.Servers, journal.BundledServer{ServerInfo: s.info(), Fault: outcome.Fault(s.Cause()),
			Connected: s.Up()})
	}
	return b.Members()
}
