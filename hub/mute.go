package hub

import (
	"github.com/mcphub-go/mcphub/hub/event"
)

// MuteServer makes the hub decline a server's questions (sampling and elicitation): the open ones now, and new ones as
// they come. That holds until somebody starts, restarts or switches on the server, or unmutes it. Calls go on.
func (h *Hub) MuteServer(name string, muted bool) (event.ServerInfo, error) {
	st := h.lock()
	defer st.unlock()
	s := st.server(name)
	if s == nil {
		return event.ServerInfo{}, st.noServer(name)
	}
	st.mute(s, muted, "")
	return s.info(), nil
}

// mute mutes or unmutes s.
func (st *state) mute(s *server, muted bool, windowID string) {
	if !s.allowance.Mute(muted) {
		return
	}
	st.log.Info("questions of a server are switched off or on", "server", s.name, "muted", muted)
	if muted {
		for _, p := range st.promptsInOrder() {
			if p.asker != nil && p.request.server == s {
				st.close(p, closing{cause: event.CauseDeclined, origin: event.OriginUser, windowID: windowID,
					action: event.ActionDecline,
					reason: "the user wants no more questions of this server"})
			}
		}
	}
	st.changed(s)
}
