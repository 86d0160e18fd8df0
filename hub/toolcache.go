package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
)

// KnownTools is Tools, but a server that is not connected is not connected for this: its tools are as they were listed
// last, perhaps by an earlier hub.
func (h *Hub) KnownTools(ctx context.Context, name string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return h.toolsBy(ctx, name, h.knownToolsOf, func(context.Context, *server) (func(), error) { return func() {}, nil })
}

func (h *Hub) knownToolsOf(ctx context.Context, s *server) ([]event.ToolInfo, error) {
	var session *mcp.Session
	var refusal *event.Error
	h.update(func() {
		if refusal = s.Usable(); refusal == nil {
			session = s.Join()
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	if session != nil {
		tools, err := h.currentTools(ctx, s, session)
		s.Unlease()
		if err == nil {
			return h.shown(s, tools, false), nil
		}
		var up bool
		h.update(func() { up = s.Up() && s.Session() == session && !session.Broken() && !outcome.NotRun(err) })
		if up || ctx.Err() != nil {
			return nil, contextError(ctx, err)
		}
	}
	return h.shown(s, s.Recall(), true), nil
}

// shown gives those of the tools that the user is to see.
func (h *Hub) shown(s *server, tools []mcp.Tool, cached bool) []event.ToolInfo {
	defer h.lock().unlock()
	list := make([]event.ToolInfo, 0, len(tools))
	for _, t := range tools {
		if s.Conf().Tools.Visible(t.Name) {
			info := h.toolInfo(s, t)
			info.Cached = cached
			list = append(list, info)
		}
	}
	return list
}
