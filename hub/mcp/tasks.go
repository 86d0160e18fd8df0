package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Two designs carry the word task, and nothing of the one is valid in the other.
//
//	2025-11-25 basic/utilities/tasks           the call asks for a task; tasks/get polls, tasks/result gives the result
//	io.modelcontextprotocol/tasks (SEP-2663)   the server decides; tasks/get polls and brings the result,
//	                                           tasks/update answers questions
//
// In both a task is cancelled by tasks/cancel alone. Which of the two holds follows from the revision.
const (
	extensionTasks = "io.modelcontextprotocol/tasks"
)

// TaskChoice tells whether a call would rather be a task, where the tool leaves that to its caller (2025-11-25,
// "optional").
type TaskChoice int

const (
	// TaskAuto makes a task of a call only where the tool demands it.
	TaskAuto TaskChoice = iota
	// TaskPrefer makes a task of a call wherever the tool allows it.
	TaskPrefer
)

// The values of Tool.TaskSupport and CallRequest.TaskSupport; "" counts as forbidden.
const (
	TaskForbidden = "forbidden"
	TaskOptional  = "optional"
	TaskRequired  = "required"
)

// The states of a task. A server may invent others, which count as working.
const (
	TaskWorking       = "working"
	TaskInputRequired = "input_required"
	TaskCompleted     = "completed"
	TaskFailed        = "failed"
	TaskCancelled     = "cancelled"
)

// TaskInfo is what a server says of a running task. All of it is untrusted.
type TaskInfo struct {
	ID      string
	Status  string
	Message string
}

// Task is all that is needed to go on with a task on another session with the same server. It is a value: nothing in it
// is shared with a session.
type Task struct {
	ID           string
	Era          Era
	PollInterval time.Duration // as the server last said, within 100 ms and a minute
	CreatedAt    time.Time     // by the clock of this side
	Rounds       int           // requests that led to it
	Declared     Capabilities  // by the request that led to it: what the task may ask for
	// ProgressToken stays good for the task's life (2025-11-25 basic/utilities/tasks, "Task Progress Notifications"). JSON
	// text; "" without.
	ProgressToken string
	// Answered are the keys of input requests whose answers the server has taken. They are not asked again.
	Answered []string
}

// TaskInterruptedError says that the session ended while a task ran. The task may go on at the server:
// Session.ResumeTask follows it there.
type TaskInterruptedError struct {
	Task Task
	Err  error // how the session ended
}

func (e *TaskInterruptedError) Error() string {
	return fmt.Sprintf("the connection ended while task %s ran: %v", quoted(e.Task.ID), e.Err)
}

func (e *TaskInterruptedError) Unwrap() error { return e.Err }

// TaskGivenUpError says that a call ended on this side after it had become a task, or had asked for one. errors.As
// finds the *jsonrpc.CancelledError in it, whose Sent tells whether tasks/cancel was sent, and whose Delivery what
// became of that: it is delivered once the server has answered. The server may go on in any case: it need not stop, and
// without the capability it cannot be asked to.
type TaskGivenUpError struct {
	// "" while the server had not answered with the task: tasks/cancel is sent once it does, for as long as the session
	// lasts, and its delivery is pending
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

// TaskCancelledError says that the server reports a task as cancelled that this side has not cancelled.
type TaskCancelledError struct {
	TaskID  string
	Message string // the server's words, untrusted and unbounded
}

func (e *TaskCancelledError) Error() string {
	text := fmt.Sprintf("the server has cancelled task %s", quoted(e.TaskID))
	if e.Message != "" {
		text += ": " + bounds.Printable(e.Message)
	}
	return text
}

// TaskLostError says that the server knows nothing of a task any more: its time to live is over, or the server has lost
// it with a restart.
type TaskLostError struct {
	TaskID string
	Err    *jsonrpc.Error // the server's answer
}

func (e *TaskLostError) Error() string {
	return fmt.Sprintf("the server no longer knows task %s (error %d: %s)", quoted(e.TaskID), e.Err.Code,
		bounds.Printable(e.Err.Message))
}

// quoted is a peer's id in errors and logs.
func quoted(id string) string { return `"` + bounds.Printable(id) + `"` }

// ResumeTask goes on with a task that a *TaskInterruptedError gave, on a new session with the same server: c is the
// call that led to it. It polls at once and is from there on like CallTool, its errors included; CallResult.Rounds
// counts what was sent before. An *ArgumentsError says that this session speaks another revision, where the task does
// not exist.
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
