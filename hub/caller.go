package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// Caller is the MCP client for which a request is made: it hears of its progress, and can be asked what the server asks
// in its course. Methods are called concurrently. Only Ask and Roots may block; the others are called with the hub's
// lock or by a reading goroutine, and must not call the hub.
type Caller interface {
	// Client names who is behind it: calls of one client may answer each other's questions.
	Client() string
	// Answers tells whether the client has declared that it answers questions of this kind.
	Answers(kind event.PromptKind, withTools bool) bool
	// Heard tells whether the client would hear a question in the course of this request now.
	Heard() bool
	// Progress hears params of notifications/progress as they came from the server, its token among them.
	Progress(params json.RawMessage)
	// Completed gives what tells the client that the server is done with a page that it was sent to, by the elicitation's
	// id. It may be kept for longer than request and client live, and holds nothing of them.
	Completed() func(elicitationID string)
	// Ask puts a question to the client. The end of ctx withdraws it, with the cause's reason (jsonrpc.Reasoner); what is
	// returned then is not used. A *jsonrpc.Error is the client's answer. ErrNotAsked: it cannot be asked in the course of
	// this request, or not any more.
	Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error)
	// Roots is the client's result of roots/list; nil when it has not declared any. key is the question's in the round of
	// a modern server, "" otherwise.
	Roots(ctx context.Context, key string) (json.RawMessage, error)
}

// ErrNotAsked is what Caller.Ask returns for a question that the client cannot be asked: then it is asked in the course
// of another of its calls that the question may be of, or windows are, if one can show it.
var ErrNotAsked = errors.New("the client of the call cannot be asked")

// Questions says who is asked what a server asks in the course of a request that has a Caller.
type Questions int

const (
	// AskClient asks the client if it answers such questions, else the windows.
	AskClient Questions = iota
	// AskWindows asks the windows alone.
	AskWindows
	// AskEither asks both: the first answer counts.
	AskEither
)

// whoAnswers gives the caller that a question goes to, nil for none. One that may be of several calls goes to a client
// only if all of them are its own: what a server asks of one client must not be seen by another.
func (st *state) whoAnswers(q *mcp.Question, kind event.PromptKind, withTools bool) *request {
	if asked := callerOf(q); asked != nil {
		if !st.mayAnswer(asked, kind, withTools) {
			return nil
		}
		return asked
	}
	for i, may := range q.Among {
		r, ok := may.Tag.(*request)
		if !ok || r.caller == nil || i > 0 && r.caller.Client() != q.Among[0].Tag.(*request).caller.Client() {
			return nil
		}
	}
	return st.amongAnswers(q, kind, withTools, nil)
}

// amongAnswers gives that of the calls of one client in whose course it is asked what may be of any of them: one in
// which it hears that now, before one whose stream it has given up, and the newest of these. Those in but were tried.
func (st *state) amongAnswers(q *mcp.Question, kind event.PromptKind, withTools bool, but []*request) (best *request) {
	heard := false
	for _, may := range q.Among {
		r := may.Tag.(*request)
		if !st.mayAnswer(r, kind, withTools) || slices.Contains(but, r) {
			continue
		}
		if hears := r.caller.Heard(); best == nil || hears && !heard || hears == heard && r.n > best.n {
			best, heard = r, hears
		}
	}
	return best
}

// mayAnswer tells whether r is open and for a client that answers such questions.
func (st *state) mayAnswer(r *request, kind event.PromptKind, withTools bool) bool {
	return r.caller != nil && r.questions != AskWindows && st.requests[r.id] == r && r.cancellation == nil &&
		r.caller.Answers(kind, withTools)
}

// askCaller puts an open prompt to the client that it is for as well, if there is one: in the course of one call after
// the other, where it may be of several. stop, which is called without the lock, takes the question back from the
// client with the cause and waits until it is.
func (h *Hub) askCaller(p *prompt) (stop func(cause error)) {
	if p.caller == nil {
		return func(error) {}
	}
	ctx, end := context.WithCancelCause(context.Background())
	var asking sync.WaitGroup
	asking.Go(func() {
		for next := p.caller; next != nil; {
			answer, err := next.Ask(ctx, p.question)
			if ctx.Err() != nil {
				return
			}
			h.update(func(st *state) { next = st.callerAnswered(p, answer, err) })
		}
	})
	return func(cause error) {
		end(cause)
		asking.Wait()
	}
}

// callerAnswered takes a prompt with what its client has answered. next is in the course of which call it can be asked
// instead; nil: of none, or it has answered.
func (st *state) callerAnswered(p *prompt, answer mcp.Answer, err error) (next Caller) {
	if st.prompts[p.id] != p {
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
	st.closePrompt(p, c)
	return nil
}

// leftToWindows is for a question that the client of its call cannot be asked.
func (st *state) leftToWindows(p *prompt) {
	p.caller = nil
	if p.hidden {
		p.hidden = false
		st.emit(&event.PromptOpened{Prompt: p.info})
	}
	st.closeUnshowable()
}

// answeredElsewhere is why a question is taken back from the client of its call: c is how it closed, ended why the
// context of the asker ended when it did not.
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
