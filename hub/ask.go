package hub

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// connection is one session of a server, and the hub's side of it: its mcp.Handler.
type connection struct {
	*allowance // handles what the server sends unasked

	hub     *Hub
	number  core.ConnectionNumber
	server  *server
	session *mcp.Session // nil while it is being opened
	fell    bool         // it ended by itself: see server.fall; guarded by the hub's lock
	pages   pages
	offered mcp.Capabilities // as last declared to the server; guarded by the hub's lock
}

// capabilities returns the client capabilities to declare to the server.
func (c *connection) capabilities() mcp.Capabilities {
	st := c.hub.lock()
	defer st.unlock()
	c.offered = st.mayBeAsked()
	return c.offered
}

// Ask asks a question of the server: it waits for the first answer of a window or client, or for another end.
func (c *connection) Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	h := c.hub
	info, withTools := promptOf(q)
	release, refused, err := c.admit(q, info.Kind)
	switch {
	case err != nil:
		return mcp.Answer{}, err
	case refused != nil:
		return *refused, nil
	}
	defer release()
	unasked := false
	answer, err := h.ask(ctx, func(st *state) (*prompt, error) {
		p := &prompt{asker: c, info: info, withTools: withTools, question: q}
		switch c.open(ctx, st, q, p) {
		case 0:
			if p.caller != nil {
				c.pages.sent(q.ElicitationID, p.caller.Completed())
			}
			return p, nil
		case core.CallIsOver: // the last call that the question may belong to ended after the question came
			if !q.WireID.IsZero() {
				return nil, mcp.ErrCallOver
			}
		case core.Unshowable:
			unasked = true
		}
		return nil, nil
	}, func(st *state, p *prompt, answer closing) (closing, error) {
		if answer.cause == 0 {
			leaves := core.AskerLeft{Prompt: p.number, Leave: leaveOf(context.Cause(ctx))}
			if p.request.direction == event.Incoming {
				leaves.Request = p.request.number
			}
			st.apply(leaves)
			return closing{}, context.Cause(ctx)
		}
		if p.request.direction == event.Incoming && st.answerRead(p.request, answer, context.Cause(ctx)) {
			return answer, mcp.ErrCallOver // the server may want to withdraw the question first
		}
		return answer, nil
	})
	if err == nil && (unasked || answer.cause == event.CauseSuperseded && answer.origin == event.OriginPolicy) {
		h.log.Info("a question of a server was answered with cancel: nobody could be asked", "server", c.server.name,
			"kind", info.Kind.String())
		return mcp.Answer{Action: mcp.Dismiss, Unasked: true}, nil
	}
	if answer.refusal != nil && err == nil && !q.WireID.IsZero() { // an answer in a round cannot be an error
		err = answer.refusal
	}
	return replyOf(answer), err
}

// open opens the prompt of a question. If the question is a request of the server, it is registered as one. The hub's
// lock is held.
func (c *connection) open(ctx context.Context, st *state, q *mcp.Question, p *prompt) core.Refusal {
	e := core.Asked{Server: c.server.number, Name: c.server.name, By: c.number, OfSome: q.OfSome,
		Human: c.server.humanLimit()}
	e.Among, e.Past = mayAsk(q)
	caller := callerOf(q)
	if caller != nil {
		e.Human = caller.human
	}
	if q.WireID.IsZero() {
		if caller == nil {
			return core.CallIsOver // a round of a call that is over
		}
		e.Of = caller.number
		return st.open(p, nil, e)
	}
	words := promptWordsOf(&p.info)
	r := &request{server: c.server, direction: event.Incoming, method: words.method, parent: caller,
		wireID: shownWireID(q.WireID.String()), ctx: ctx}
	r.trace, _ = q.Trace.(*journal.Timeline)
	e.Prefix = words.name
	if caller != nil {
		e.Parent = caller.number
	}
	return st.open(p, r, e)
}

// callerOf returns the request in whose course the question is asked; nil if that is not known.
func callerOf(q *mcp.Question) *request {
	if q.Call == nil {
		return nil
	}
	caller, _ := q.Call.Tag.(*request)
	return caller
}

// replyOf converts the end of a prompt to the answer for the server.
func replyOf(c closing) mcp.Answer {
	switch c.action {
	case event.ActionAccept:
		return mcp.Answer{Action: mcp.Accept, Content: json.RawMessage(c.content), Result: c.result}
	case event.ActionDecline:
		return mcp.Answer{Action: mcp.Decline, Result: c.result}
	}
	return mcp.Answer{Action: mcp.Dismiss, Result: c.result}
}

// answerRead ends the request of a question, whose asker has learned how it closed. left is the cause of the asker's
// context, if that has ended. It reports whether the answer is given a moment later: see core.ReplyDelayed.
func (st *state) answerRead(r *request, c closing, left error) (delayed bool) {
	e := core.AnswerRead{Request: r.number, End: c.end()}
	if left != nil {
		leave := leaveOf(left)
		e.Left = &leave
	}
	return st.apply(e).delayed
}

// leaveOf returns how a question closes whose context has ended with cause.
func leaveOf(cause error) core.Leave {
	closes, reason, ends := withdrawnBy(cause)
	return core.Leave{End: core.End{Cause: closes, Origin: ends.Origin, Reason: reason}, Ends: ends}
}

// Roots returns the roots of the client in whose call the server asks; if there is none, those of all windows and
// clients.
func (c *connection) Roots(ctx context.Context, of *mcp.CallRequest, key string) (json.RawMessage, error) {
	if of != nil {
		if r, ok := of.Tag.(*request); ok && r.caller != nil {
			if result, err := r.caller.Roots(ctx, key); result != nil || err != nil {
				return result, err
			}
		}
	}
	var roots []mcp.Root
	c.hub.update(func(st *state) {
		for _, root := range st.allRoots() {
			roots = append(roots, mcp.Root{URI: root.URI, Name: root.Name})
		}
	})
	return mcp.ListOfRoots(roots), nil
}

// ToolsChanged drops the known tools and tells the windows.
func (c *connection) ToolsChanged() { c.allowance.ToolsChanged(c.server.toolsOutdated) }

// LateResponse records that the server has answered a call after its cancel. The answer itself is dropped.
func (c *connection) LateResponse(r mcp.LateResponse) {
	st := c.hub.lock()
	defer st.unlock()
	e := core.AnsweredLate{Server: c.server.number, WireID: r.ID.String(), NoResult: r.NoResult}
	requestID := ""
	if t, ok := r.Trace.(*journal.Timeline); ok {
		e.Request, requestID = t.Request()
	}
	if r.Task {
		e.Request = 0
	}
	st.apply(e)
	st.log.Info("late response dropped", "server", c.server.name, "request_id", requestID,
		"wire_id", bounds.Printable(e.WireID))
	c.note("lateResponseDropped", map[string]string{"requestId": requestID, "wireIdJson": e.WireID})
}

// shownWireID returns the JSON text of an id, or "" if it is too long to be shown.
func shownWireID(text string) string {
	if len(text) > bounds.WireIDBytes {
		return ""
	}
	return text
}

// maxPages limits how many pages of one connection are remembered; the oldest are forgotten first.
const maxPages = 256

// pages remembers, by elicitation id, which client a URL elicitation of the server has sent to a page, so that the
// client can be told when the server reports that the elicitation is complete. That may come long after the answer, and
// after the call. The zero value is ready to use. It is safe for concurrent use.
type pages struct {
	mu    sync.Mutex
	of    map[string]func(id string) // by the elicitation's id
	order []string                   // oldest first
}

func (p *pages) sent(id string, tell func(id string)) {
	if id == "" || len(id) > bounds.NameBytes { // for such an id nobody is told of the completion
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]func(id string){}
	}
	if _, again := p.of[id]; !again {
		if len(p.order) == maxPages {
			delete(p.of, p.order[0])
			p.order = p.order[1:]
		}
		p.order = append(p.order, id)
	}
	p.of[id] = tell
}

// take returns the function that tells the client that was sent to the page. It returns nil if there is none, or if it
// was taken before.
func (p *pages) take(id string) (tell func(id string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if tell = p.of[id]; tell != nil {
		p.of[id] = nil // the id keeps its place in order, and later calls return nil
	}
	return tell
}

// ElicitationCompleted tells the client that was sent to a page that the server has finished with it.
func (c *connection) ElicitationCompleted(id string) {
	if tell := c.pages.take(id); tell != nil {
		tell(id)
	}
}
