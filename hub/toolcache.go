package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
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
		if refusal = s.usable(); refusal == nil && s.conn != nil && !s.conn.session.Broken() {
			session = s.conn.session
			s.users++
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	if session != nil {
		tools, err := h.currentTools(ctx, s, session)
		h.unlease(s)
		if err == nil {
			return h.shown(s, tools, false), nil
		}
		var up bool
		h.update(func() { up = s.conn != nil && s.conn.session == session && !session.Broken() && !notRun(err) })
		if up || ctx.Err() != nil {
			return nil, contextError(ctx, err)
		}
	}
	return h.shown(s, h.recall(s), true), nil
}

// recall gives the tools of s as its last connection listed them, or that of an earlier hub; nil when there was none of
// the same launch.
func (h *Hub) recall(s *server) []mcp.Tool {
	var tools []mcp.Tool
	var key toolKey
	h.update(func() {
		if tools = s.tools; tools == nil {
			key = keyOfTools(s)
		}
	})
	if tools != nil {
		return tools
	}
	tools = h.tools.find(key) // may read a file: without the lock
	defer h.lock().unlock()
	if s.tools == nil && s.conn == nil && keyOfTools(s) == key && s.keepTools(tools, nil) != nil {
		return nil // as if none were known
	}
	return tools
}

// shown gives those of the tools that the user is to see.
func (h *Hub) shown(s *server, tools []mcp.Tool, cached bool) []event.ToolInfo {
	defer h.lock().unlock()
	list := make([]event.ToolInfo, 0, len(tools))
	for _, t := range tools {
		if s.conf.Tools.Visible(t.Name) {
			info := h.toolInfo(s, t)
			info.Cached = cached
			list = append(list, info)
		}
	}
	return list
}
