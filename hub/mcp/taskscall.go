package mcp

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// askingTask is the call whose task a request of a legacy server names, which a request within a task MUST do (2025-11-25 basic/utilities/tasks, "Related
// Task Metadata"); related is false for a request that names none. The server may ask before its answer that names the task has been taken in: then it is the
// one call that waits for its task, if there is exactly one.
func (s *Session) askingTask(params json.RawMessage) (_ *CallRequest, related bool) {
	named := member(member(params, "_meta"), metaRelatedTask)
	if named == nil {
		return nil, false
	}
	id := stringOf(member(named, "taskId"))
	s.mu.Lock()
	defer s.mu.Unlock()
	var waiting []*CallRequest
	for c := range s.calls {
		switch {
		case c.taskID != "" && c.taskID == id:
			return c.req, true
		case c.augmented && c.taskID == "" && c.onWire:
			waiting = append(waiting, c.req)
		}
	}
	if len(waiting) == 1 {
		return waiting[0], true
	}
	return nil, true
}

// taskTold wakes the calls whose task a notification names. Their next poll tells what has changed: a notification is a hint that may fail to come, and
// nothing else of it is used.
func (s *Session) taskTold(n *jsonrpc.Notification) {
	id := stringOf(member(n.Params, "taskId"))
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if c.taskID != "" && c.taskID == id {
			select {
			case c.wake <- struct{}{}:
			default:
			}
		}
	}
}
