package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// Caller is the MCP client that a request is made for. It gets the request's progress, and can be asked the questions
// of the server. Methods are called concurrently. Only Ask and Roots may block; the others are called with the hub's
// lock held or by a reading goroutine, and must not call the hub.
type Caller interface {
	// Client returns the client. Calls of the same client may answer each other's questions.
	Client() Client
	// Answers reports whether the client has declared that it answers such questions.
	Answers(kind event.PromptKind, withTools bool) bool
	// Heard reports whether a question in the course of this request would reach the client now.
	Heard() bool
	// Progress gets the params of notifications/progress as the server sent them, with its token.
	Progress(params json.RawMessage)
	// Completed returns a function that tells the client that the elicitation with that id is complete. It may be kept for
	// longer than the request and the client live, and refers to neither.
	Completed() func(elicitationID string)
	// Ask asks the client. The end of ctx withdraws the question, with the cause's reason (jsonrpc.Reasoner); the results
	// are not used then. A *jsonrpc.Error is the client's answer. ErrNotAsked means that it cannot be asked in the course
	// of this request, or no longer.
	Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error)
	// Roots returns the client's result of roots/list; nil when it has not declared roots. key is the key of the input
	// request in a round of a modern server, "" otherwise.
	Roots(ctx context.Context, key string) (json.RawMessage, error)
}

// Client is an MCP client. Requests are of the same client if their Clients are equal. It is kept for a while after a
// request has ended, and holds nothing of that.
type Client interface {
	// Gone reports whether the client has gone for good. Who is gone has no calls: when the server must have read their
	// cancels, a question cannot be of one of them. It is true before a request of the client ends for that reason. It is
	// called with the hub's lock held.
	Gone() bool
}

// ErrNotAsked is returned by Caller.Ask if the client cannot be asked. The question is then asked in the course of
// another call of the client that it may belong to, or else in windows, if one can show it.
var ErrNotAsked = errors.New("the client of the call cannot be asked")

// Questions says who answers the questions of a server in the course of a request with a Caller.
type Questions int

const (
	// AskClient asks the client if it answers such questions, else the windows.
	AskClient Questions = iota
	// AskWindows asks the windows alone.
	AskWindows
	// AskEither asks both: the first answer counts.
	AskEither
)

// cancelReadTime is how long a server may take to read a cancel. What it asked before may be of the cancelled call.
const cancelReadTime = 3 * time.Second

// whoAnswers returns the request whose caller is asked, nil for none. A question that may belong to several calls goes
// to a client only if all of them are its own, since one client must not see what is asked of another. Calls of clients
// that are gone do not count, as soon as their server must have read that they are cancelled. clients reports that a
// client is not asked only because the question may be another one's.
func (st *state) whoAnswers(q *mcp.Question, kind event.PromptKind, withTools bool) (asked *request, clients bool) {
	if asked := callerOf(q); asked != nil {
		if !st.mayAnswer(asked, kind, withTools) {
			return nil, false
		}
		return asked, false
	}
	possible := slices.Clip(q.Past)
	for _, may := range q.Among {
		possible = append(possible, mcp.PastClient{Client: may.Client, Cancelled: time.Now()})
	}
	var first Client
	for _, of := range possible {
		client, has := of.Client.(Client)
		switch {
		case !has:
			return nil, false
		case client.Gone() && time.Since(of.Cancelled) >= cancelReadTime:
		case first != nil && client != first:
			clients = true
		default:
			first = client
		}
	}
	asked = st.amongAnswers(q, kind, withTools, nil)
	if clients {
		return nil, asked != nil
	}
	return asked, false
}

// amongAnswers returns one of the calls of a client that a question may belong to. It prefers calls in whose course the
// client can be reached now, and then the newest. It skips the calls in but, which were tried.
func (st *state) amongAnswers(q *mcp.Question, kind event.PromptKind, withTools bool, but []*request) (best *request) {
	heard := false
	for _, may := range q.Among {
		r := may.Tag.(*request)
		if !st.mayAnswer(r, kind, withTools) || slices.Contains(but, r) {
			continue
		}
		if hears := r.caller.Heard(); best == nil || hears && !heard || hears == heard && r.number > best.number {
			best, heard = r, hears
		}
	}
	return best
}

// client returns the Client of r for package mcp, nil if there is none.
func (r *request) client() any {
	if r.caller == nil {
		return nil
	}
	return r.caller.Client()
}

// mayAnswer reports whether r is open and its caller answers such questions.
func (st *state) mayAnswer(r *request, kind event.PromptKind, withTools bool) bool {
	return r.caller != nil && r.questions != AskWindows && st.isOpen(r) && r.cause == nil &&
		r.caller.Answers(kind, withTools)
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
		if r := st.amongAnswers(p.question, p.info.Kind, p.withTools, p.tried); r != nil {
			p.tried, p.caller = append(p.tried, r), r.caller
			return r.caller
		}
		st.leftToWindows(p)
		return nil
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

// leftToWindows shows a question in windows because its caller cannot be asked.
func (st *state) leftToWindows(p *prompt) {
	p.caller = nil
	st.apply(core.ClientUnreachable{Prompt: p.number})
}

// answeredElsewhere returns the cause with which a question is withdrawn from its caller. c is how the prompt has
// closed; if it has not closed, ended is the cause of the asker's context.
func answeredElsewhere(c closing, ended error) error {
	if c.cause == 0 {
		_, _, cause := prompts.Withdrawn(ended)
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
