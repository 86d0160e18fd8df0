package ipc

import (
	"github.com/mcphub-go/mcphub/hub/event"
)

// notice identifies an event that only makes windows look again. A second, equal one adds nothing.
type notice struct{ kind, server, uri string }

// noticeOf returns the notice of b; ok is false if b is another kind of event.
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
