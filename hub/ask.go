package hub

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcphub-go/mcphub/hub/allowance"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// connection is the hub's side of one session: its mcp.Handler.
type connection struct {
	*allowance.Allowance // handles what the server sends unasked

	hub     *Hub
	server  *server
	pages   pages
	offered mcp.Capabilities // as last declared to the server; guarded by the hub's lock

	// request by wire id, of calls that were cancelled and may be answered late; guarded by the hub's lock
	cancelled map[string]string
}

// Capabilities returns the client capabilities to declare to the server.
func (c *connection) Capabilities() mcp.Capabilities {
	st := c.hub.lock()
	defer st.unlock()
	c.offered = st.mayBeAsked()
	return c.offered
}

// Offers returns the capabilities as last declared, and those that would be declared now. The hub's lock is held.
func (c *connection) Offers() (was, is mcp.Capabilities) {
	return c.offered, c.hub.held().mayBeAsked()
}

// Ask asks a question of the server: it waits for the first answer of a window or client, or for another end.
func (c *connection) Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	h := c.hub
	info, withTools := prompts.Of(q)
	release, refused, err := c.Admit(q, info.Kind)
	switch {
	case err != nil:
		return mcp.Answer{}, err
	case refused != nil:
		return *refused, nil
	}
	defer release()
	unasked := false
	answer, err := h.ask(ctx, func(st *state) (*prompt, error) {
		switch {
		case st.callOver(q) || q.OfSome && len(st.callsOf(c.server)) == 0:
			// the last call that the question may belong to ended after the question came
			if !q.WireID.IsZero() {
				return nil, mcp.ErrCallOver
			}
			return nil, nil
		case st.draining:
			return nil, nil
		}
		of, clients := st.whoAnswers(q, info.Kind, withTools)
		if clients {
			st.takeTurns(c.server)
		}
		shown := h.windows.CanShow(info.Kind, withTools)
		if unasked = of == nil && !shown; unasked {
			return nil, nil
		}
		p := c.question(ctx, st, q, info, withTools)
		if p != nil && of != nil {
			p.caller, p.question, p.hidden = of.caller, q, of.questions == AskClient
			p.tried = []*request{of}
			c.pages.sent(q.ElicitationID, of.caller.Completed())
		}
		return p, nil
	}, func(st *state, p *prompt, answer closing) (closing, error) {
		if answer.cause == 0 {
			st.takeBack(p, context.Cause(ctx))
			return closing{}, context.Cause(ctx)
		}
		if p.request.direction == event.Incoming && c.settle(ctx, st, p, answer) {
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

// question makes the prompt of a question and, if the question is a request of the server, the request. It returns nil
// if the call that the question belongs to is over. The hub's lock is held.
func (c *connection) question(ctx context.Context, st *state, q *mcp.Question, info event.PromptInfo,
	withTools bool) *prompt {
	caller, human := callerOf(q), c.server.humanLimit()
	r := caller
	switch {
	case !q.WireID.IsZero():
		words := prompts.WordsOf(&info)
		r = &request{
			id: st.mint(words.Name), server: c.server, direction: event.Incoming, method: words.Method, parent: caller,
			wireID: shownWireID(q.WireID.String()),
		}
		r.trace, _ = q.Trace.(*journal.Timeline)
		st.register(ctx, r)
	case caller == nil:
		return nil // a round of a call that is over
	}
	if caller != nil {
		human = caller.human
	}
	return &prompt{request: r, asker: c, withTools: withTools, humanLimit: human, info: info}
}

// callerOf returns the request in whose course the question is asked; nil if that is not known.
func callerOf(q *mcp.Question) *request {
	if q.Call == nil {
		return nil
	}
	caller, _ := q.Call.Tag.(*request)
	return caller
}

// callOver reports whether the call of q is over or cancelled. All questions of such a call were closed, so no new one
// may open.
func (st *state) callOver(q *mcp.Question) bool {
	caller := callerOf(q)
	return caller != nil && (st.requests[caller.id] != caller || caller.cancellation != nil)
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

// settle ends the request of a question. It returns true if its call, or one that may be its call, is over or
// cancelled, so that the server may want to withdraw the question itself. An immediate answer could also overtake the
// cancel, and cause a result of a call that nobody waits for. The hub's lock is held.
func (c *connection) settle(ctx context.Context, st *state, p *prompt, answer closing) (grace bool) {
	r := p.request
	chosen := answer.cause == event.CauseAnswered || answer.cause == event.CauseDeclined ||
		answer.cause == event.CauseDismissed
	switch {
	case ctx.Err() != nil: // withdrawn in the same instant: the answer will not be written, so it did not count
		st.withdraw(r, context.Cause(ctx))
	case !chosen:
		st.cancel(r, &event.CancelCause{Origin: answer.origin, Reason: answer.reason})
	}
	if r.cancellation == nil {
		st.end(r, ending{state: event.StateDone})
		return false
	}
	st.end(r, ending{state: event.StateCancelled})
	return ctx.Err() == nil && (p.among || p.outlived || slices.ContainsFunc(p.holding, func(held *request) bool {
		return held.direction == event.Outgoing && (held.cancellation != nil || held.state.Terminal())
	}))
}

// takeBack closes a question whose context has ended. If somebody has answered at the same moment, the answer is
// dropped: a question that the server has withdrawn gets no answer.
func (st *state) takeBack(p *prompt, cause error) {
	closed, _ := withdrawn(cause)
	st.closePrompt(p, closed)
	if p.request.direction == event.Incoming {
		st.withdraw(p.request, cause)
	}
}

// withdraw cancels the request of a question whose context has ended.
func (st *state) withdraw(r *request, cause error) {
	closed, cancelled := withdrawn(cause)
	st.closePromptsUnder(r, closed)
	st.cancel(r, cancelled)
	st.end(r, ending{state: event.StateCancelled})
}

// takenBack ends the children of r that the server has withdrawn before r ends. The engine has ended their contexts
// already, but the goroutines that wait for the answers have not run yet.
func (st *state) takenBack(r *request) {
	for _, child := range inOrder(r.children, func(c *request) uint64 { return c.n }) {
		st.withdrawIfTakenBack(child)
	}
}

// withdrawIfTakenBack cancels the request of a question if the engine has ended its context, and reports whether it has
// done so. The goroutine that waits for the answer does the same, but may not have run yet.
func (st *state) withdrawIfTakenBack(r *request) bool {
	withdrawn := context.Cause(r.ctx)
	if withdrawn == nil || r.cancellation != nil {
		return false
	}
	st.withdraw(r, withdrawn)
	return true
}

// withdrawn returns how a question whose context has ended is closed, and the cause for its request.
func withdrawn(cause error) (closing, *event.CancelCause) {
	closes, reason, ends := prompts.Withdrawn(cause)
	return closing{cause: closes, origin: ends.Origin, reason: reason}, ends
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
func (c *connection) ToolsChanged() { c.Allowance.ToolsChanged(c.server.ToolsOutdated) }

// LateResponse records that the server has answered a call after its cancel. The answer itself is dropped.
func (c *connection) LateResponse(id jsonrpc.ID) {
	h := c.hub
	defer h.lock().unlock()
	requestID := c.cancelled[id.String()]
	delete(c.cancelled, id.String())
	c.server.turns.settled(id.String())
	h.log.Info("late response dropped", "server", c.server.name, "request_id", requestID,
		"wire_id", bounds.Printable(id.String()))
	c.Note("lateResponseDropped", map[string]string{"requestId": requestID, "wireIdJson": id.String()})
}

// maxCancelled limits the cancelled calls that are remembered in order to name their late responses.
const maxCancelled = 1024

// noteCancelled records the wire id of a cancelled request. The hub's lock is held.
func (c *connection) noteCancelled(r *request) {
	if c.cancelled == nil || len(c.cancelled) >= maxCancelled {
		c.cancelled = map[string]string{}
	}
	c.cancelled[r.wireID] = r.id
}

// shownWireID returns the JSON text of an id, or "" if it is too long to be shown.
func shownWireID(text string) string {
	if len(text) > bounds.WireIDBytes {
		return ""
	}
	return text
}
