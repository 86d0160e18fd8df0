package ipc

import "github.com/mcphub-go/mcphub/hub"

// notice is what an event says that only tells a window to look again: a second one of the same words says nothing
// more.
type notice struct{ kind, server, uri string }

// noticeOf tells whether b is such an event.
func noticeOf(b hub.EventBody) (n notice, ok bool) {
	switch b := b.(type) {
	case *hub.ToolsChanged:
		return notice{kind: "tools", server: b.Server}, true
	case *hub.ResourcesChanged:
		return notice{kind: "resources", server: b.Server}, true
	case *hub.McpPromptsChanged:
		return notice{kind: "prompts", server: b.Server}, true
	case *hub.ResourceUpdated:
		return notice{kind: "updated", server: b.Server, uri: b.URI}, true
	}
	return notice{}, false
}
