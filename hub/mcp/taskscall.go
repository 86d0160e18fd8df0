package mcp

import "github.com/mcphub-go/mcphub/hub/jsonrpc"

// taskTold wakes the calls whose task a notification names. Their next poll gets the status: a notification is a hint
// that may not come, and nothing else of it is used.
func (s *Session) taskTold(n *jsonrpc.Notification) {
	id := stringOf(member(n.Params, "taskId"))
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if c.taskID != "" && c.taskID == id {
			c.wakeUp()
		}
	}
}

// wakeUp makes the next poll of the call's task earlier: see follower.hasten.
func (c *openCall) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
