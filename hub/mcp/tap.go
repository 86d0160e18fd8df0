package mcp

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// tapNotification reports to Options.Tap a notification that belongs to a call: progress names the call by its token, a
// task by its id. It is called by the reading goroutine, so that the reports are in the order of the wire and include
// notifications that a newer one replaces.
func (s *Session) tapNotification(n *jsonrpc.Notification) {
	var of *CallRequest
	switch n.Method {
	case protocol.MethodProgress:
		token := member(n.Params, "progressToken")
		s.mu.Lock()
		if call := s.progress[string(token)]; call != nil {
			of = call.req
		}
		s.mu.Unlock()
	case protocol.MethodTaskStatus, protocol.MethodTasks:
		id := stringOf(member(n.Params, "taskId"))
		s.mu.Lock()
		for c := range s.calls {
			if c.taskID != "" && c.taskID == id {
				of = c.req
				break
			}
		}
		s.mu.Unlock()
	}
	if of != nil {
		s.tellTap(of, n)
	}
}

// tellTap reports a notification of a call to Options.Tap.
func (s *Session) tellTap(of *CallRequest, n *jsonrpc.Notification) {
	if s.o.Tap != nil && of.Trace != nil {
		s.o.Tap(of.Trace, jsonrpc.Observed{Sender: jsonrpc.Incoming, Kind: jsonrpc.KindNotification, Method: n.Method,
			Bytes: n.Size})
	}
}

// traceContextOf returns the trace context of a call (W3C; SEP-414, 2026-07-28 basic/index "_meta"), for the other
// requests on its behalf, or nil if it has none.
func traceContextOf(c *CallRequest) map[string]json.RawMessage {
	var of map[string]json.RawMessage
	for _, key := range []string{protocol.MetaTraceParent, protocol.MetaTraceState, protocol.MetaBaggage} {
		if v, ok := c.Meta[key]; ok {
			if of == nil {
				of = make(map[string]json.RawMessage, 3)
			}
			of[key] = v
		}
	}
	return of
}
