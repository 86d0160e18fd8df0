package ipc

import (
	"github.com/mcphub-go/mcphub/hub/event"
)

// notice is what an event says that only tells a window to look again: a second one of the same words says nothing
// more.
type notice struct{ kind, server, uri string }

// noticeOf tells whether b is such an event.
func noticeOf(b event.Body) (n notice, ok bool) {
	switch b := b.(type) {
	case *event.ToolsChanged:
		return notice{kind: "tools", server: b.Server}, true
	case *event.ResourcesChanged:
		return notice{kind: "resources", server: b.Server}, true
	case *event.McpPromptsChanged:
		return notice{kind: "prompts", server: b.Server}, true
	case *event.ResourceUpdated:
		return notice{kind: "updated", server: b.Server, uri: b.URI}, true
	}
	return notice{}, false
}
