package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// The bounds of a poll interval, and the interval until the server names one.
const (
	minPollInterval     = 100 * time.Millisecond
	maxPollInterval     = time.Minute
	defaultPollInterval = time.Second
)

// taskState is the status of a task in one answer.
type taskState struct {
	TaskInfo
	interval time.Duration // 0: the answer has none
	// Only in the extension, and only in the answers to tasks/get.
	result, failure, requests json.RawMessage
}

func (t *taskState) terminal() bool {
	return t.Status == TaskCompleted || t.Status == TaskFailed || t.Status == TaskCancelled
}

// readTask parses a Task: the answer to tasks/get in both designs, the member of a CreateTaskResult of 2025-11-25, and
// a result with the resultType "task". The last one has the task's members at its top level, like the answers to
// tasks/get in the extension. For these, examples of the extension show the resultType "task", but its text has
// "complete".
func readTask(era Era, raw json.RawMessage) (*taskState, error) {
	interval := "pollInterval"
	if era == Modern {
		interval = "pollIntervalMs"
	}
	t := &taskState{}
	resultType := ""
	object := eachMember(raw, func(name []byte, v json.RawMessage) bool {
		switch string(name) {
		case "taskId":
			t.ID = stringOf(v)
		case "status":
			t.Status = stringOf(v)
		case "statusMessage":
			t.Message = stringOf(v)
		case interval:
			t.interval = pollInterval(v)
		case "resultType":
			resultType = stringOf(v)
		case "result":
			t.result = v
		case "error":
			t.failure = v
		case "inputRequests":
			t.requests = v
		}
		return true
	})
	switch {
	case !object, t.Status == "":
		return nil, &ProtocolError{Text: "the server answered with a task that has no status"}
	case era == Modern && resultType != "" && resultType != "complete" && resultType != "task":
		return nil, &ProtocolError{Text: fmt.Sprintf("the server answered for a task with the unknown resultType %s",
			quoted(resultType))}
	}
	return t, nil
}

// pollInterval parses milliseconds. It returns 0 for a value that is no number.
func pollInterval(raw json.RawMessage) time.Duration {
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsNaN(ms) {
		return 0
	}
	ms = min(max(ms, float64(minPollInterval.Milliseconds())), float64(maxPollInterval.Milliseconds()))
	return time.Duration(ms * float64(time.Millisecond))
}

// readFailure returns the JSON-RPC error of a failed task of the extension.
func readFailure(raw json.RawMessage) error {
	e, err := jsonrpc.ReadError(raw)
	if err != nil {
		return &ProtocolError{Text: "the server reports a failed task without a JSON-RPC error"}
	}
	return e
}

// declares reports whether a server's capabilities have a member at this path.
func (s *Session) declares(path ...string) bool {
	at := s.state.Load().info.Capabilities
	for _, name := range path {
		if at = member(at, name); at == nil || isNull(at) {
			return false
		}
	}
	return true
}

// asksForTask reports whether a call of a tool is to ask for a task. 2025-11-25 basic/utilities/tasks, "Tool-Level
// Negotiation": without the server's capability a client MUST NOT, whatever the tool says; such a call is sent without
// it, and the server decides. In 2026-07-28 the member has no meaning.
func (s *Session) asksForTask(c *CallRequest) bool {
	if n := s.state.Load(); n.era != Legacy || n.revision != Revision20251125 {
		return false
	}
	wanted := c.TaskSupport == TaskRequired || c.TaskSupport == TaskOptional && c.Task == TaskPrefer
	return wanted && s.declares("tasks", "requests", "tools", "call")
}

// taskMember returns the member "task" of a call that asks for one.
func taskMember(c *CallRequest) []byte {
	o := newObject(32)
	if c.TaskTTL >= time.Millisecond {
		o.raw("ttl", strconv.AppendInt(nil, c.TaskTTL.Milliseconds(), 10))
	}
	return o.end()
}

// createdTask returns the task that was created according to a result, or nil if it is an ordinary result.
func (s *Session) createdTask(augmented bool, result jsontext.Object) (*taskState, error) {
	era := s.state.Load().era
	made := result.Raw
	switch {
	case era == Modern:
		if stringOf(result.Get("resultType")) != "task" {
			return nil, nil
		}
	case !augmented:
		return nil, nil
	default:
		// A server that does not support tasks ignores the member and answers with the result itself.
		if made = result.Get("task"); made == nil {
			return nil, nil
		}
	}
	t, err := readTask(era, made)
	if err == nil && t.ID == "" {
		err = &ProtocolError{Text: "the server answered with a task that has no taskId"}
	}
	return t, err
}

// ownExtensions are the extensions that a session declares itself. Immutable.
var ownExtensions = map[string]json.RawMessage{extensionTasks: json.RawMessage(`{}`)}

// withTasks adds the tasks extension to those that a client declares, in the revision that has it, and keeps settings
// of the client for it. The tasks of 2025-11-25 are another design, for which a client declares nothing, and the id of
// the extension has no meaning there.
func withTasks(given map[string]json.RawMessage, revision string) map[string]json.RawMessage {
	modern := revision >= Revision20260728
	settings, has := given[extensionTasks]
	switch {
	case modern && len(given) == 0:
		return ownExtensions
	case has == modern && (!modern || isObject(settings)):
		return given
	}
	all := maps.Clone(given)
	delete(all, extensionTasks)
	if modern {
		maps.Copy(all, ownExtensions)
	}
	return all
}
