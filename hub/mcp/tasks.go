package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
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

const (
	// cancelPatience bounds how long tasks/cancel is tried and its answer awaited. No caller waits for that.
	cancelPatience = 30 * time.Second

	retryDelay    = time.Second
	retryMaxDelay = 30 * time.Second
)

var (
	errCancelUnanswered = errors.New("the server did not answer tasks/cancel in time")
	errNoTaskCancel     = errors.New("the server offers no way to cancel a task")
)

// errands are the requests of a session for which no call waits. All of them end with the session.
type errands struct {
	mu      sync.Mutex // guards what follows; nothing is added once closed is set
	closed  bool
	open    int
	idle    chan struct{} // closed when no errand is open any more; nil if nobody waits
	running sync.WaitGroup
}

// start runs f on a goroutine of its own. It returns false, without running f, if the session is over.
func (e *errands) start(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.open++
	e.running.Go(func() {
		f()
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.open--; e.open == 0 && e.idle != nil {
			close(e.idle)
			e.idle = nil
		}
	})
	return true
}

// Settled returns a channel that is closed once the server has answered, or will not answer, the tasks/cancel requests
// that the session has sent. A caller that is about to close the session waits for it first, for a bounded time,
// because a request that is still on its way would be lost.
func (s *Session) Settled() <-chan struct{} {
	e := &s.errands
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.idle == nil {
		e.idle = make(chan struct{})
	}
	idle := e.idle
	if e.open == 0 {
		close(e.idle)
		e.idle = nil
	}
	return idle
}

// wait waits for all errands. It is called after the session's end has cancelled them.
func (e *errands) wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.running.Wait()
}

// cancelTask sends tasks/cancel, and reports whether it did. It does not wait for the answer: that the task has ended
// already (-32602) and that it continues are both allowed. Nothing is sent to a 2025-11-25 server without the
// capability. trace is that of the call. told is called exactly once, before or after cancelTask returns and without a
// lock: with nil when the server has answered, else with its error, or with the reason why it did not get the request.
func (s *Session) cancelTask(id string, trace any, told func(error)) (sent bool) {
	if s.Era() != Modern && !s.declares("tasks", "cancel") {
		s.log.Info("a task is left running: its server has no tasks/cancel")
		told(errNoTaskCancel)
		return false
	}
	// Quiet: a cancel of the cancel would be of no use.
	params := s.plainParams("taskId", string(jsontext.AppendString(nil, id)))
	call, err := s.peer.BeginAs(protocol.MethodTaskCancel, params, jsonrpc.How{Quiet: true, Tag: trace})
	if err != nil {
		told(err)
		return false
	}
	if !s.errands.start(func() {
		ctx, stop := context.WithTimeoutCause(s.over, cancelPatience, errCancelUnanswered)
		defer stop()
		_, err := call.Wait(ctx)
		if transient(err) {
			err = s.tryAgain(ctx, protocol.MethodTaskCancel, params, jsonrpc.How{Tag: trace}, err)
		}
		s.log.Debug("tasks/cancel is over", "failed", err != nil)
		if cancelled, ok := errors.AsType[*jsonrpc.CancelledError](err); ok {
			err = cancelled.Cause // the end of the session, or cancelPatience is over
			if s.link.Exchanges != nil {
				_ = s.link.Exchanges.Abort(call.ID().String()) // else it would stay open to the end of the session
			}
		}
		told(err)
	}) {
		told(jsonrpc.ErrClosed)
	}
	return true
}

// lateResponse looks for a task in the answer to a call that was given up before it was known to be a task: nothing
// else would ever cancel that task. It runs on the reading goroutine.
func (s *Session) lateResponse(r jsonrpc.LateResponse) {
	s.settled(r.ID)
	task := false
	switch r.Method {
	case protocol.MethodTaskGet, protocol.MethodTaskResult, protocol.MethodTaskUpdate, protocol.MethodTaskCancel:
		return // not a call of a user
	case protocol.MethodUnsubscribe:
		if r.Quiet {
			return // sent by the session itself
		}
	case protocol.MethodSubscribe:
		s.unsubscribeLate(r.ID, r.Result)
	case protocol.MethodListen:
		if s.listen.answeredLate(r.ID) {
			return // the stream that was replaced
		}
	case protocol.MethodCallTool:
		settle := r.Settle
		if settle == nil {
			settle = func(error) {} // the call was cancelled as a request, and that delivery was reported
		}
		if made, err := s.createdTask(r.Quiet, jsontext.Object{Raw: r.Result}); err == nil && made != nil &&
			!made.terminal() {
			task = true
			s.cancelTask(made.ID, r.Tag, settle)
		} else {
			settle(jsonrpc.ErrCancelNotNeeded) // there is nothing to cancel
		}
	}
	if !r.Again { // a server can repeat it as often as it likes
		s.o.Handler.LateResponse(LateResponse{ID: r.ID, Trace: r.Tag, NoResult: r.Result == nil, Task: task})
	}
}

// transient reports whether a request that failed with err may be tried again on the same session. That holds for
// failures of the transport, such as of HTTP. It does not hold for an answer of the server itself, a message that
// cannot be parsed, a sign-in that a user has refused, and the end of the session or of the caller.
func transient(err error) bool {
	switch {
	case err == nil, rpcError(err) != nil, errors.Is(err, transport.ErrNoSignIn), errors.Is(err, jsonrpc.ErrClosed),
		errors.Is(err, jsonrpc.ErrInvalidJSON), errors.As(err, new(*jsonrpc.ResultTooLargeError)),
		errors.As(err, new(*bounds.Exceeded)), errors.As(err, new(*jsonrpc.InvalidResponseError)),
		errors.As(err, new(*ProtocolError)), errors.As(err, new(*jsonrpc.CancelledError)):
		return false
	}
	return true
}

// tryAgain repeats a request that has failed with a transient error until it succeeds, it fails with another error, or
// ctx ends.
func (s *Session) tryAgain(ctx context.Context, method string, params json.RawMessage, how jsonrpc.How,
	err error) error {
	for delay := nextDelay(0, err); transient(err) && wait(ctx, delay); delay = nextDelay(delay, err) {
		_, err = s.peer.CallAs(ctx, method, params, how)
	}
	return err
}

// wait waits for d, and reports false if ctx ended before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// nextDelay returns the delay before another try. d is the previous delay (0: none) and err the error of the last try:
// a server may ask for a longer delay (Retry-After).
func nextDelay(d time.Duration, err error) time.Duration {
	d = max(retryDelay, min(2*d, retryMaxDelay))
	if refused, ok := errors.AsType[*transport.HTTPError](err); ok {
		d = max(d, refused.RetryAfter)
	}
	return d
}
