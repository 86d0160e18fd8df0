package hub

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Caller is the MCP client that a request is made for. It gets the request's progress, and can be asked the questions
// of the server. Methods are called concurrently. Only Ask and Roots may block; the others are called with the hub's
// lock held or by a reading goroutine, and must not call the hub.
type Caller interface {
	// Client returns what names the client: it is the same for all of its requests, and no other client's. Calls of the
	// same client may answer each other's questions. See Gateway.ClientGone.
	Client() string
	// Answers returns the kinds of questions that the client has declared to answer.
	Answers() event.Kinds
	// Heard reports whether a question in the course of this request would reach the client now.
	Heard() bool
	// Progress gets the params of notifications/progress as the server sent them, with its token.
	Progress(params json.RawMessage)
	// Completed returns a function that tells the client that the elicitation with that id is complete. It may be kept
	// for longer than the request and the client live, and refers to neither.
	Completed() func(elicitationID string)
	// Ask asks the client. The end of ctx withdraws the question, with the cause's reason (jsonrpc.Reasoner); the results
	// are not used then. A *jsonrpc.Error is the client's answer. ErrNotAsked means that it cannot be asked in the course
	// of this request, or no longer.
	Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error)
	// Roots returns the client's result of roots/list; nil when it has not declared roots. key is the key of the input
	// request in a round of a modern server, "" otherwise.
	Roots(ctx context.Context, key string) (json.RawMessage, error)
}

// ErrNotAsked is returned by Caller.Ask if the client cannot be asked. The question is then asked in the course of
// another call of the client that it may belong to, or else in windows, if one can show it.
var ErrNotAsked = errors.New("the client of the call cannot be asked")

// mayAsk returns the calls in which the server may have asked, and the clients of those that are over. The hub's lock
// is held.
func mayAsk(q *mcp.Question) (among []core.MayAsk, past []core.PastClient) {
	for _, may := range q.Among {
		m := core.MayAsk{Client: may.Client}
		if r := may.Tag.(*request); r.caller != nil {
			m.Request, m.Heard = r.number, r.caller.Heard()
		}
		among = append(among, m)
	}
	for _, of := range q.Past {
		past = append(past, core.PastClient(of))
	}
	return among, past
}

// client returns what names the client of r, "" if there is none.
func (r *request) client() string {
	if r.caller == nil {
		return ""
	}
	return r.caller.Client()
}

// askCaller asks the caller of an open prompt, if it has one: in the course of one call after the other, if it may
// belong to several. stop withdraws the question from the client, with the cause, and waits for that; it is called
// without the lock. The end of the prompt has withdrawn it already, so that the end of its call cannot overtake that.
func (h *Hub) askCaller(p *prompt, first Caller) (stop func(cause error)) {
	if first == nil {
		return func(error) {}
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		for next := first; next != nil; {
			answer, err := next.Ask(p.asked, p.question)
			if p.asked.Err() != nil {
				return
			}
			h.update(func(st *state) { next = st.callerAnswered(p, answer, err) })
		}
	})
	return func(cause error) {
		p.endAsking(cause)
		asking.Wait()
	}
}

// callerAnswered closes a prompt with the answer of its caller. If the caller could not be asked, it returns the next
// one to ask, or nil and leaves the prompt to the windows.
func (st *state) callerAnswered(p *prompt, answer mcp.Answer, err error) (next Caller) {
	if !st.isAsked(p) {
		return nil
	}
	c := closing{cause: event.CauseAnswered, origin: event.OriginHost, reason: "the client of the call answered",
		action: actionOf(answer.Action), result: answer.Result, content: string(answer.Content)}
	refusal, refused := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, ErrNotAsked):
		p.caller = nil
		among, _ := mayAsk(p.question)
		st.apply(core.ClientUnreachable{Prompt: p.number, Among: among})
		return p.caller
	case refused:
		c.cause, c.action, c.refusal = event.CauseDismissed, event.ActionDismiss, refusal
	case err != nil:
		c.cause, c.action, c.reason = event.CauseDismissed, event.ActionDismiss, "the client of the call did not answer"
	case c.action == event.ActionDecline:
		c.cause = event.CauseDeclined
	case c.action == event.ActionDismiss:
		c.cause = event.CauseDismissed
	}
	st.close(p, c)
	return nil
}

// answeredElsewhere returns the cause with which a question is withdrawn from its caller. c is how the prompt has
// closed; if it has not closed, ended is the cause of the asker's context.
func answeredElsewhere(c closing, ended error) error {
	if c.cause == 0 {
		_, _, cause := withdrawnBy(ended)
		return cause
	}
	if c.windowID != "" {
		return &event.CancelCause{Origin: c.origin, Reason: "the question was answered elsewhere"}
	}
	return &event.CancelCause{Origin: c.origin, Reason: c.reason}
}

func actionOf(a mcp.Action) event.Action {
	switch a {
	case mcp.Accept:
		return event.ActionAccept
	case mcp.Decline:
		return event.ActionDecline
	}
	return event.ActionDismiss
}
