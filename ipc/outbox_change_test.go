package ipc

import (
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// A server that reports changes without end does not fill the outbox of a window: while a notice waits, an equal one is
// left out. Notices of other servers and resources are kept, and an equal one that comes after the first was sent.
func TestOutboxKeepsOneNoticeOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := newMailbox(0, hold)
		for range 3 * bounds.WindowQueue {
			m.emit(&event.ToolsChanged{Server: "a"}, &event.ToolsChanged{Server: "b"}, &event.ResourcesChanged{Server: "a"},
				&event.McpPromptsChanged{Server: "a"},
				&event.ResourceUpdated{Server: "a", URI: "file:///x"}, &event.ResourceUpdated{Server: "a", URI: "file:///y"})
		}
		synctest.Wait()
		close(hold)
		synctest.Wait()
		m.emit(&event.ToolsChanged{Server: "b"})
		m.end(t)
		// The first notice was already being sent when an equal one came, so that one was kept, too.
		want := map[string]int{"tools a": 2, "tools b": 2, "resources a": 1, "prompts a": 1, "file:///x": 1, "file:///y": 1}
		got := map[string]int{}
		for _, r := range m.sent {
			switch {
			case r.GetToolsChanged() != nil:
				got["tools "+r.GetToolsChanged().GetServer()]++
			case r.GetResourcesChanged() != nil:
				got["resources "+r.GetResourcesChanged().GetServer()]++
			case r.GetMcpPromptsChanged() != nil:
				got["prompts "+r.GetMcpPromptsChanged().GetServer()]++
			case r.GetResourceUpdated() != nil:
				got[r.GetResourceUpdated().GetUri()]++
			}
		}
		for what, n := range want {
			if got[what] != n {
				t.Errorf("%s: %d notices, want %d", what, got[what], n)
			}
		}
	})
}
