package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

func (f *follower) finish(out *CallResult, err error) {
	if !f.over {
		f.over, f.out, f.err = true, out, err
	}
}

// fail ends the call before its task has ended. The task is cancelled, because nobody will follow it any more.
func (f *follower) fail(err error) {
	if !f.over && !f.terminal {
		f.s.cancelTask(f.task.ID, f.call.req.Trace, func(error) {})
	}
	f.finish(nil, err)
}

func (f *follower) resultOf(raw json.RawMessage) (*CallResult, error) {
	out := &CallResult{Raw: raw, Rounds: f.task.Rounds, TaskID: f.task.ID}
	if !eachMember(raw, func(name []byte, v json.RawMessage) bool {
		if string(name) == "isError" {
			out.IsError = string(v) == "true"
		}
		return true
	}) {
		return nil, &ProtocolError{Text: "the result of the task is no JSON object"}
	}
	return out, nil
}

// giveUp ends the call because its caller has cancelled it.
func (f *follower) giveUp(cause error) {
	f.takeInHand(cause)
	if f.over {
		return
	}
	f.s.givenUp(f.call, f.call.wire, func() bool { return !f.terminal })
	cancelled, told := jsonrpc.NewCancelledError(cause)
	if f.terminal {
		told(jsonrpc.ErrCancelNotNeeded)
		cancelled.Sent = false
	} else {
		cancelled.Sent = f.s.cancelTask(f.task.ID, f.call.req.Trace, told)
	}
	f.finish(nil, &TaskGivenUpError{TaskID: f.task.ID, Cancelled: cancelled})
}

// interrupt ends the call because the session has ended.
func (f *follower) interrupt() {
	cause := closedError(context.Cause(f.s.over))
	f.takeInHand(cause)
	f.task.Answered = f.asking.keys()
	f.finish(nil, &TaskInterruptedError{Task: f.task, Err: cause})
}

// takeInHand gives up the requests on the wire. An answer that was received before is used if it is the outcome of the
// call.
func (f *follower) takeInHand(cause error) {
	result, get := f.result, f.get
	f.result, f.get = nil, nil
	if result != nil {
		raw, err := giveUpOn(result, cause)
		switch {
		case err == nil:
			f.finish(f.resultOf(raw))
		case rpcError(err) != nil:
			f.finish(nil, err)
		}
	}
	if get == nil {
		return
	}
	raw, err := giveUpOn(get, cause)
	if err != nil {
		return
	}
	if t, err := f.readState(raw); err == nil && t.terminal() {
		f.terminal = true
		if f.era == Modern && t.Status != TaskCancelled {
			f.observeModern(t)
		}
	}
}

// endRest gives up the open requests once the outcome is known, and waits for the questions.
func (f *follower) endRest() {
	for _, c := range []*jsonrpc.Call{f.get, f.result} {
		if c != nil {
			_, _ = giveUpOn(c, errTaskOver) // the outcome is known without it
		}
	}
	f.asking.end(f.whyOver())
}

// whyOver returns the cause with which open questions end.
func (f *follower) whyOver() error {
	var (
		interrupted *TaskInterruptedError
		declined    *DeclinedError
	)
	switch {
	case errors.As(f.err, &interrupted):
		return interrupted.Err
	case errors.As(f.err, &declined):
		return &SiblingError{Err: f.err}
	}
	return &jsonrpc.WithdrawnError{Reason: errTaskOver.Error()}
}

// giveUpOn ends a call at once. It returns an answer that was received before.
func giveUpOn(c *jsonrpc.Call, cause error) (json.RawMessage, error) {
	ctx, end := context.WithCancelCause(context.Background())
	end(cause)
	return c.Wait(ctx)
}
