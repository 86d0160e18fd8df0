package hub

import (
	"context"
	"encoding/json"
	"errors"
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
	// returned then is not used. A *jsonrpc.Error is the client's answer. ErrNotAsked: it cannot be asked after all.
	Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error)
	// Roots is the client's result of roots/list; nil when it has not declared any. key is the question's in the round of
	// a modern server, "" otherwise.
	Roots(ctx context.Context, key string) (json.RawMessage, error)
}

// ErrNotAsked is what Caller.Ask returns for a question that the client cannot be asked: then windows are, if one can
// show it.
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
	asked := callerOf(q)
	if asked == nil {
		for _, may := range q.Among {
			r, ok := may.Tag.(*request)
			switch {
			case !ok || r.caller == nil, asked != nil && r.caller.Client() != asked.caller.Client():
				return nil
			case asked == nil, st.requests[asked.id] != asked,
				st.requests[r.id] == r && !asked.caller.Heard() && r.caller.Heard():
				asked = r
			}
		}
	}
	if asked == nil || asked.caller == nil || asked.questions == AskWindows || st.requests[asked.id] != asked ||
		!asked.caller.Answers(kind, withTools) {
		return nil
	}
	return asked
}

// askCaller puts an open prompt to the client that it is for as well, if there is one. stop, which is called without
// the lock, takes the question back from the client with the cause and waits until it is.
func (h *Hub) askCaller(p *prompt) (stop func(cause error)) {
	if p.caller == nil {
		return func(error) {}
	}
	ctx, end := context.WithCancelCause(context.Background())
	var asking sync.WaitGroup
	asking.Go(func() {
		answer, err := p.caller.Ask(ctx, p.question)
		if ctx.Err() == nil {
			h.update(func(st *state) { st.callerAnswered(p, answer, err) })
		}
	})
	return func(cause error) {
		end(cause)
		asking.Wait()
	}
}

// callerAnswered takes a prompt with what its client has answered.
func (st *state) callerAnswered(p *prompt, answer mcp.Answer, err error) {
	if st.prompts[p.id] != p {
		return
	}
	c := closing{cause: event.CauseAnswered, origin: event.OriginHost, reason: "the client of the call answered",
		action: actionOf(answer.Action), result: answer.Result, content: string(answer.Content)}
	refusal, refused := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, ErrNotAsked):
		st.leftToWindows(p)
		return
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
