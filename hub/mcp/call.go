package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// CallRequest is one call: of a tool, or of another method that a server may answer with questions. It must not be
// changed while the call runs.
type CallRequest struct {
	Tag       any                        // for the caller's own use; not read here
	Client    string                     // kept when the call was cancelled, for Question.Past; "" = none
	Trace     any                        // passed to Options.Tap with each message of the call; nil: the tap is not called
	Name      string                     // the tool, as the server spells it
	Arguments json.RawMessage            // a JSON object, sent as it is; nil sends {}
	Meta      map[string]json.RawMessage // further keys of _meta; the session sets those of the protocol itself
	Further   json.RawMessage            // further members of params, by FurtherParams; nil if there are none
	// OnWire is called with the wire id of each round, before any progress of that round is delivered and before CallTool
	// can return.
	OnWire func(id jsonrpc.ID)
	// OnProgress is called with progress in order, on a goroutine of the peer; never after CallTool has returned. If it is
	// nil, no progress is requested.
	OnProgress func(p Progress)

	// TaskSupport is Tool.TaskSupport of the tool, or "" if it is not known. It is used only in 2025-11-25, with a server
	// that supports tasks.
	TaskSupport string
	// PreferTask makes the call a task if the tool leaves that to its caller (2025-11-25, "optional").
	PreferTask bool
	// OnTask is called with the call's task when it is created and whenever its status or message changes, on the
	// goroutine of CallTool.
	OnTask func(t TaskInfo)
	// Keep is jsonrpc.How.Keep: it is called for a large result of each round before CallTool can return. nil: a result is
	// charged until it is returned.
	Keep func(release func())
}

// CallResult is a tool's result.
type CallResult struct {
	Raw     json.RawMessage // exactly as it came
	IsError bool            // the tool itself reports a failure
	Rounds  int             // requests sent; 1 without questions, 0 if the answer was kept and is fresh (ReadResource)
	TaskID  string          // the task that the call became; "" if none
}

// openCall is a call from its start to its end.
type openCall struct {
	req     *CallRequest
	method  string
	members []byte // the params without _meta and inputs, in JSON: the same in each round
	held    string // the progress token that was issued for it, as JSON text; used only by the goroutine of the call

	// augmented says that the call asks for a task (2025-11-25): then it is never cancelled by its request id.
	augmented bool

	// Guarded by Session.mu.
	onWire bool          // a request of the call or its task is on the wire
	given  bool          // it was cancelled and is about to leave Session.calls
	taskID string        // "" until it has become a task
	wake   chan struct{} // capacity 1: the next poll of the task is to be early

	// gate keeps progress in step with the round: progress waits until OnWire was called, and none is delivered after the
	// end of the round. Nothing that runs while it is held may block, including OnWire and OnProgress.
	gate  sync.Mutex
	token string     // the token of the running round, as JSON text; "" if none
	wire  jsonrpc.ID // the id of the last round
	far   struct {   // the progress of the round with this token
		token    string
		progress float64
	}
}

func (c *openCall) deliver(token string, p Progress) (back bool) {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.token != token {
		return false
	}
	if c.far.token == token && p.Progress < c.far.progress {
		p = Progress{Progress: c.far.progress, Back: true}
	}
	c.far.token, c.far.progress = token, p.Progress
	c.req.OnProgress(p)
	return p.Back
}

// CallTool calls a tool and goes through all rounds that the server asks for. When ctx ends, the round on the wire is
// cancelled with the reason in context.Cause(ctx), open questions end with that cause, and nothing is retried.
//
// Errors: *jsonrpc.Error (the server's own), *jsonrpc.CancelledError (ctx ended; the cause is inside),
// *jsonrpc.ClosedError, *DeclinedError, *ProtocolError, *ArgumentsError (nothing was sent), those of a call that has
// become a task (*TaskInterruptedError, *TaskGivenUpError with a *jsonrpc.CancelledError in it, *TaskCancelledError,
// *TaskLostError), or the errors of jsonrpc for answers that are too large and queues that are full.
func (s *Session) CallTool(ctx context.Context, c *CallRequest) (*CallResult, error) {
	if c.Arguments != nil && !isObject(c.Arguments) {
		return nil, &ArgumentsError{Text: "the arguments are no JSON object"}
	}
	arguments := c.Arguments
	if arguments == nil {
		arguments = json.RawMessage("{}") // optional by the schema, but some servers require it
	}
	asked := newObject(len(c.Name) + len(arguments) + 32)
	asked.text("name", c.Name)
	asked.raw("arguments", oneLine(arguments))
	asked.further(c.Further)
	call := &openCall{req: c, method: protocol.MethodCallTool, augmented: s.asksForTask(c)}
	if call.augmented {
		asked.raw("task", []byte("{}"))
	}
	call.members = asked.b[1:]
	return s.call(ctx, call)
}

// call goes through all rounds of a call.
func (s *Session) call(ctx context.Context, call *openCall) (*CallResult, error) {
	for k, v := range call.req.Meta {
		if !json.Valid(v) {
			return nil, &ArgumentsError{Text: fmt.Sprintf("the value of _meta key %q is no JSON", bounds.Printable(k))}
		}
	}
	defer s.enter(call)()

	var in inputs
	for {
		result, declared, err := s.round(ctx, call, in)
		if s.refreshed(ctx, call, err) {
			s.dropToken(call)
			result, declared, err = s.round(ctx, call, in)
		}
		in.rounds++
		if err == nil && call.augmented {
			// The progress token stays valid for the life of the task, so this comes before the token is dropped.
			if made, err := s.createdTask(true, result); made != nil || err != nil {
				return s.become(ctx, call, in, declared, made, err)
			}
		}
		s.dropToken(call)
		var again bool
		if err != nil {
			again, err = s.urlRequired(ctx, call, &in, declared, err)
		} else {
			again, err = s.inputRequired(ctx, call, &in, declared, result)
		}
		switch {
		case err != nil:
			return nil, err
		case in.task:
			made, err := s.createdTask(false, result)
			return s.become(ctx, call, in, declared, made, err)
		case !again:
			return &CallResult{Raw: result.Raw, IsError: in.isError, Rounds: in.rounds}, nil
		case in.rounds > s.o.MaxRounds:
			return nil, &ProtocolError{Text: fmt.Sprintf("the server asked for more than %d further rounds of one call",
				s.o.MaxRounds)}
		}
	}
}

// enter adds a call to Session.calls; leave removes it once the call has ended.
func (s *Session) enter(call *openCall) (leave func()) {
	s.mu.Lock()
	s.calls[call] = struct{}{}
	s.mu.Unlock()
	return func() {
		s.dropToken(call)
		s.mu.Lock()
		delete(s.calls, call)
		if call.taskID != "" {
			s.lingering.taskOver(call.taskID)
		}
		s.mu.Unlock()
	}
}

// become continues a call whose answer says that it is a task now. Only tasks of 2025-11-25 have progress.
func (s *Session) become(ctx context.Context, call *openCall, in inputs, declared Capabilities, made *taskState,
	err error) (*CallResult, error) {
	if err != nil {
		return nil, err
	}
	declared.Extensions = nil
	t := Task{ID: made.ID, Era: s.Era(), Rounds: in.rounds, Declared: declared, ProgressToken: call.held}
	return s.follow(ctx, call, t, made)
}

// round sends the request once and waits for its answer. It also returns the capabilities that the request declared.
// The caller drops the progress token.
func (s *Session) round(ctx context.Context, call *openCall, in inputs) (jsontext.Object, Capabilities, error) {
	if ctx.Err() != nil {
		return jsontext.Object{}, Capabilities{}, &jsonrpc.CancelledError{Cause: context.Cause(ctx)}
	}
	s.takeToken(call)
	params, declared := s.callParams(call, in, call.held)
	// 2025-11-25 basic/utilities/cancellation: for task-augmented requests tasks/cancel MUST be used. It can only be sent
	// once the id of the task is known, which may be when the late answer comes.
	how := jsonrpc.How{Quiet: call.augmented, Extra: s.mirrored(call), Tag: call.req.Trace, Keep: call.req.Keep}

	call.gate.Lock()
	call.token = call.held
	sent, err := s.peer.BeginAs(call.method, params, how)
	if err == nil {
		if call.wire = sent.ID(); call.req.OnWire != nil {
			call.req.OnWire(call.wire)
		}
	}
	call.gate.Unlock()
	if err != nil {
		return jsontext.Object{}, declared, unsent(err)
	}
	_, err = sent.Wait(ctx)
	if cancelled, ok := errors.AsType[*jsonrpc.CancelledError](err); ok {
		s.linger(call, sent, cancelled)
		if call.augmented {
			err = &TaskGivenUpError{Cancelled: cancelled}
		}
	}
	return sent.Result(), declared, err
}

// unsent returns the error of a request that could not begin. If the session had expired, the error says that the
// request was not sent, so that the caller may send it on a new session.
func unsent(err error) error {
	if errors.Is(err, transport.ErrSessionExpired) {
		return &transport.HTTPError{Text: transport.ErrSessionExpired.Error(), Delivery: transport.NotSent, Err: err}
	}
	return err
}

func (s *Session) callParams(call *openCall, in inputs, token string) (json.RawMessage, Capabilities) {
	meta, declared := s.requestMeta(call.req.Meta, token)
	o := newObject(len(call.members) + len(meta) + len(in.responses) + len(in.state) + 64)
	o.b = append(o.b, call.members...)
	o.empty = len(call.members) == 0
	if in.responses != nil {
		o.raw("inputResponses", in.responses)
	}
	if in.state != nil {
		o.raw("requestState", in.state)
	}
	if meta != nil {
		o.raw("_meta", meta)
	}
	return o.end(), declared
}

// interrupted returns the error of a call that must not continue, because its caller has ended it or the link has
// ended. It returns nil if the call may continue.
func (s *Session) interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return &jsonrpc.CancelledError{Cause: context.Cause(ctx)}
	}
	if s.over.Err() != nil {
		return closedError(context.Cause(s.over))
	}
	return nil
}

// rpcError returns the server's own error in err, or nil if there is none.
func rpcError(err error) *jsonrpc.Error {
	e, _ := errors.AsType[*jsonrpc.Error](err)
	return e
}

// takeToken creates the progress token of a round and marks the call as on the wire. Tokens must be unique among the
// active requests (basic/utilities/progress). They are strings, because every JSON library preserves a string.
//
// The token of a call that asks for a task can outlive the session, so it must also be unique among the tokens of other
// sessions.
func (s *Session) takeToken(call *openCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call.onWire = true
	if call.req.OnProgress == nil {
		return
	}
	s.tokens++
	call.held = `"p` + strconv.FormatUint(s.tokens, 10)
	if call.augmented {
		call.held += "-" + rand.Text()
	}
	call.held += `"`
	s.progress[call.held] = call
}

// holdToken assigns to a call the token that it had in another session.
func (s *Session) holdToken(call *openCall, token string) {
	s.mu.Lock()
	call.onWire = true
	call.held = token
	s.progress[token] = call
	s.mu.Unlock()
	call.gate.Lock()
	call.token = token
	call.gate.Unlock()
}

func (s *Session) dropToken(call *openCall) {
	s.mu.Lock()
	call.onWire = false
	delete(s.progress, call.held)
	s.mu.Unlock()
	call.held = ""
	call.gate.Lock()
	call.token = ""
	call.gate.Unlock()
}

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
