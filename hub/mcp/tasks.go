package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// There are two designs of tasks, and nothing of one is valid in the other.
//
//	2025-11-25 basic/utilities/tasks           the call asks for a task; tasks/get polls, tasks/result returns the result
//	io.modelcontextprotocol/tasks (SEP-2663)   the server decides; tasks/get polls and returns the result,
//	                                           tasks/update answers questions
//
// In both, only tasks/cancel cancels a task. The revision determines which of the two applies.
const extensionTasks = "io.modelcontextprotocol/tasks"

// The values of Tool.TaskSupport and CallRequest.TaskSupport; "" counts as forbidden.
const (
	TaskForbidden = "forbidden"
	TaskOptional  = "optional"
	TaskRequired  = "required"
)

// The states of a task. A server may send other states, which count as working.
const (
	TaskWorking       = "working"
	TaskInputRequired = "input_required"
	TaskCompleted     = "completed"
	TaskFailed        = "failed"
	TaskCancelled     = "cancelled"
)

// TaskInfo is the status of a running task as the server reports it. All of it is untrusted.
type TaskInfo struct {
	ID      string
	Status  string
	Message string
}

// Task holds all that is needed to continue a task on another session with the same server. It is a value: it shares
// nothing with a session.
type Task struct {
	ID           string
	Era          Era
	PollInterval time.Duration // as the server last said, from 100 ms to a minute
	Rounds       int           // requests that led to it
	Declared     Capabilities  // declared by the request that led to it: what the task may ask for
	// ProgressToken stays valid for the task's life (2025-11-25 basic/utilities/tasks, "Task Progress Notifications").
	// JSON text; "" if there is none.
	ProgressToken string
	// Answered are the keys of input requests whose answers the server has received. They are not asked again.
	Answered []string
}

// TaskInterruptedError reports that the session ended while a task ran. The task may continue at the server:
// Session.ResumeTask follows it on a new session.
type TaskInterruptedError struct {
	Task Task
	Err  error // why the session ended
}

func (e *TaskInterruptedError) Error() string {
	return fmt.Sprintf("the connection ended while task %s ran: %v", quoted(e.Task.ID), e.Err)
}

func (e *TaskInterruptedError) Unwrap() error { return e.Err }

// TaskGivenUpError reports that a call was cancelled on this side after it had become a task, or had asked for one.
// errors.As finds the *jsonrpc.CancelledError in it: its Sent reports whether tasks/cancel was sent, and its Delivery
// what became of that; it is Delivered once the server has answered. The server may continue in any case: it need not
// stop, and without the capability it cannot be asked to.
type TaskGivenUpError struct {
	// TaskID is "" if the server had not answered with the task: tasks/cancel is sent once it does, as long as the session
	// lasts, and its delivery is pending until then.
	TaskID    string
	Cancelled *jsonrpc.CancelledError
}

func (e *TaskGivenUpError) Error() string {
	if e.TaskID == "" {
		return fmt.Sprintf("a call was given up before it had become the task that it asked for: %v", e.Cancelled)
	}
	return fmt.Sprintf("task %s was given up: %v", quoted(e.TaskID), e.Cancelled)
}

func (e *TaskGivenUpError) Unwrap() error { return e.Cancelled }

// TaskCancelledError reports that the server has cancelled a task that this side has not cancelled.
type TaskCancelledError struct {
	TaskID  string
	Message string // the server's text, untrusted and unbounded
}

func (e *TaskCancelledError) Error() string {
	text := fmt.Sprintf("the server has cancelled task %s", quoted(e.TaskID))
	if e.Message != "" {
		text += ": " + bounds.Printable(e.Message)
	}
	return text
}

// TaskLostError reports that the server does not know a task any more: its time to live is over, or the server has lost
// it in a restart.
type TaskLostError struct {
	TaskID string
	Err    *jsonrpc.Error // the server's answer
}

func (e *TaskLostError) Error() string {
	return fmt.Sprintf("the server no longer knows task %s (error %d: %s)", quoted(e.TaskID), e.Err.Code,
		bounds.Printable(e.Err.Message))
}

// quoted returns a peer's id for errors and logs.
func quoted(id string) string { return `"` + bounds.Printable(id) + `"` }

// ResumeTask continues the task of a *TaskInterruptedError on a new session with the same server; c is the call that
// led to it. It polls at once and is then like CallTool, including its errors; CallResult.Rounds counts the requests
// that were sent before. The error is an *ArgumentsError if this session has another revision, where the task does not
// exist.
func (s *Session) ResumeTask(ctx context.Context, c *CallRequest, t Task) (*CallResult, error) {
	n := s.state.Load()
	switch {
	case t.ID == "":
		return nil, &ArgumentsError{Text: "the task has no id"}
	case t.Era != n.era, n.era == Legacy && n.revision != Revision20251125:
		return nil, &ArgumentsError{Text: fmt.Sprintf("task %s is of a %s session and cannot go on in one of revision %s",
			quoted(t.ID), t.Era, n.revision)}
	}
	call := &openCall{req: c, method: protocol.MethodCallTool, augmented: n.era == Legacy}
	defer s.enter(call)()
	if t.ProgressToken != "" && c.OnProgress != nil {
		s.holdToken(call, t.ProgressToken)
	}
	return s.follow(ctx, call, t, nil)
}

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
	wanted := c.TaskSupport == TaskRequired || c.TaskSupport == TaskOptional && c.PreferTask
	return wanted && s.declares("tasks", "requests", "tools", "call")
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
