package hub

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// hidden is the error of who wants a tool that the config hides, else nil.
func (h *Hub) hidden(r *request) error {
	defer h.lock().unlock()
	conf := r.server.conf
	if conf.Tools.Visible(r.tool) {
		return nil
	}
	field := "tools.only"
	if hides := (config.ToolFilter{Hidden: conf.Tools.Hidden}); !hides.Visible(r.tool) {
		field = "tools.hidden"
	}
	setting, where := settingOf(conf, field)
	return event.Fail(event.CodeNotFound, event.ReasonToolNotFound, []string{"server", r.server.name, "request_id", r.id,
		"setting", setting},
		"tool %q of server %q is hidden by %s%s; change that to use it", boundReason(r.tool), r.server.name, setting, where)
}

func sameFilter(a, b config.ToolFilter) bool {
	return slices.Equal(a.Only, b.Only) && (a.Only == nil) == (b.Only == nil) && slices.Equal(a.Hidden, b.Hidden)
}
