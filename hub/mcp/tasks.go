package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// There are two designs of tasks, and nothing of one is valid in the other.
//
//	2025-11-25 basic/utilities/tasks           the call asks for a task; tasks/get polls, tasks/result returns the result
//	io.modelcontextprotocol/tasks (SEP-2663)   the server decides; tasks/get polls and returns the result,
//	                                           tasks/update answers questions
//
// In both, only tasks/cancel cancels a task. The revision determines which of the two applies.
const (
	extensionTasks = "io.modelcontextprotocol/tasks"
)

// TaskChoice says whether a call should be a task if the tool leaves that to its caller (2025-11-25, "optional").
type TaskChoice int

const (
	// TaskAuto makes a call a task only if the tool demands it.
	TaskAuto TaskChoice = iota
	// TaskPrefer makes a call a task whenever the tool allows it.
	TaskPrefer
)

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
	CreatedAt    time.Time     // by the clock of this side
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
