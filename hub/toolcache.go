package hub

import "context"

// KnownTools is Tools, but a server that is not connected is not connected for this: its tools are as they were listed last, perhaps by an earlier hub.
func (h *Hub) KnownTools(ctx context.Context, name string) ([]ToolInfo, map[string]*Error, error) {
	return h.Tools(ctx, name)
}
