package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

// KnownTools is Tools, but a server that is not connected is not connected for this: its tools are as they were listed last, perhaps by an earlier hub.
func (h *Hub) KnownTools(ctx context.Context, name string) ([]ToolInfo, map[string]*Error, error) {
	return h.toolsBy(ctx, name, h.knownToolsOf)
}

func (h *Hub) knownToolsOf(ctx context.Context, s *server) ([]ToolInfo, error) {
	h.mu.Lock()
	if err := s.usable(); err != nil {
		h.mu.Unlock()
		return nil, err
	}
	var session *mcp.Session
	if s.conn != nil && !s.conn.session.Broken() {
		session = s.conn.session
		s.users++
	}
	h.mu.Unlock()
	if session != nil {
		tools, err := h.currentTools(ctx, s, session)
		h.unlease(s)
		if err == nil {
			return h.shown(s, tools, false), nil
		}
		h.mu.Lock()
		up := s.conn != nil && s.conn.session == session && !session.Broken() && !notRun(err)
		h.mu.Unlock()
		if up || ctx.Err() != nil {
			return nil, contextError(ctx, err)
		}
	}
	return h.shown(s, h.recall(s), true), nil
}

// recall gives the tools of s as its last connection listed them, or that of an earlier hub; nil when there was none of the same launch.
func (h *Hub) recall(s *server) []mcp.Tool {
	h.mu.Lock()
	tools, key := s.tools, toolKey{}
	if tools == nil {
		key = keyOfTools(s)
	}
	h.mu.Unlock()
	if tools != nil {
		return tools
	}
	tools = h.tools.find(key) // may read a file: without the lock
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.tools == nil && s.conn == nil && keyOfTools(s) == key {
		s.tools, s.toolsOf = tools, nil
	}
	return tools
}

// shown gives those of the tools that the user is to see.
func (h *Hub) shown(s *server, tools []mcp.Tool, cached bool) []ToolInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]ToolInfo, 0, len(tools))
	for _, t := range tools {
		if s.conf.Tools.Visible(t.Name) {
			info := h.toolInfo(s, t)
			info.Cached = cached
			list = append(list, info)
		}
	}
	return list
}
