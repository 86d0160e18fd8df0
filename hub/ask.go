package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mcphub-go/mcphub/hub/allowance"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// connectionEnded is the reason of everything that ends with a connection.
const connectionEnded = "the connection to the server ended"

// connection is what one session reports to: the hub's side of mcp.Handler.
type connection struct {
	*allowance.Allowance // what it says without being asked

	hub     *Hub
	server  *server
	offered mcp.Capabilities // what windows could show when the server was told last; guarded by hub.mu

	// request by wire id, of calls that were cancelled and may be answered late; guarded by hub.mu
	cancelled map[string]string
}

// Capabilities is what a server is told that it may ask for.
func (c *connection) Capabilities() mcp.Capabilities {
	defer c.hub.lock().unlock()
	c.offered = c.hub.capabilitiesNow()
	return c.offered
}

// Ask shows a server's question to the windows and waits for the first answer, or for whatever else ends it.
func (c *connection) Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	release, refused, err := c.Admit(q, kindOf(q.Kind))
	switch {
	case err != nil:
		return mcp.Answer{}, err
	case refused != nil:
		return *refused, nil
	}
	defer release()
	h := c.hub
	var p *prompt
	var r *request
	over := false
	h.update(func() {
		if over = callOver(h, q) || q.OfSome && len(h.callsOf(c.server)) == 0; over {
			// the last call that it may be of ended since it came
			return
		}
		if p, r = c.question(ctx, q); p != nil {
			h.openPrompt(p)
		}
	})
	if over && !q.WireID.IsZero() {
		return mcp.Answer{Action: mcp.Dismiss}, mcp.ErrCallOver
	}
	if p == nil {
		h.log.Info("a question of a server was answered with cancel: nobody can be asked", "server", c.server.name,
			"kind", kindOf(q.Kind).String())
		return mcp.Answer{Action: mcp.Dismiss}, nil
	}

	select {
	case answer := <-p.settled:
		return c.replyTo(ctx, p, r, answer)
	case <-ctx.Done():
	}
	defer h.lock().unlock()
	closed, _ := withdrawn(context.Cause(ctx))
	// if somebody answered in the same instant: what the server withdrew gets no answer all the same
	h.closePrompt(p, closed)
	if r.direction == event.Incoming {
		h.withdraw(r, context.Cause(ctx))
	}
	return mcp.Answer{Action: mcp.Dismiss}, context.Cause(ctx)
}

// question makes the prompt and, for a request of the server, its hub request. nil: nobody can be asked. h.mu is held.
func (c *connection) question(ctx context.Context, q *mcp.Question) (*prompt, *request) {
	h, kind := c.hub, kindOf(q.Kind)
	withTools := kind == event.PromptSampling && hasTools(q.Payload)
	if h.draining || !h.canShow(kind, withTools) {
		return nil, nil
	}
	caller := callerOf(q)
	human := DefaultHumanTimeout
	if limit := c.server.Conf().Timeouts.Human; limit != nil {
		human = *limit
	}
	r := caller
	switch {
	case !q.WireID.IsZero():
		r = &request{
			id: h.mint("ask"), server: c.server, direction: event.Incoming, method: methodOf(kind), parent: caller,
			wireID: shownWireID(q.WireID.String()),
		}
		r.trace, _ = q.Trace.(*journal.Timeline)
		h.register(ctx, r)
	case caller == nil:
		return nil, nil // a round of a call that is over
	}
	if caller != nil {
		human = caller.clock.human
	}
	question := &event.Question{Payload: q.Payload, Message: q.Message, Waiting: q.Waiting, Schema: q.Schema}
	if kind == event.PromptElicitationURL {
		question.URL, question.URLHost = q.URL, q.URLHost
	}
	return &prompt{request: r, asker: c, withTools: withTools, humanLimit: human,
		info: event.PromptInfo{Kind: kind, Question: question}}, r
}

// callerOf is the request behind a question; nil: none is known.
func callerOf(q *mcp.Question) *request {
	if q.Call == nil {
		return nil
	}
	caller, _ := q.Call.Tag.(*request)
	return caller
}

// callOver tells whether a question came before the end, or the cancel, of its call, which has closed every question of
// that call: no new one appears. h.mu is held.
func callOver(h *Hub, q *mcp.Question) bool {
	caller := callerOf(q)
	return caller != nil && (h.requests[caller.id] != caller || caller.cancellation != nil)
}

// replyTo turns a settled prompt into what the server is told. mcp.ErrCallOver: the server may want to withdraw the
// question first.
func (c *connection) replyTo(ctx context.Context, p *prompt, r *request, answer closing) (mcp.Answer, error) {
	var over error
	if r.direction == event.Incoming && c.settle(ctx, p, r, answer) {
		over = mcp.ErrCallOver
	}
	switch answer.action {
	case event.ActionAccept:
		return mcp.Answer{Action: mcp.Accept, Content: json.RawMessage(answer.content)}, over
	case event.ActionDecline:
		return mcp.Answer{Action: mcp.Decline}, over
	}
	return mcp.Answer{Action: mcp.Dismiss}, over
}

// settle ends the hub request of a question. true: its call, or one that may be its call, was cancelled or is over, and
// the server may want to withdraw the question itself. An answer at once could also overtake the cancel, and bring a
// result of a call that nobody wants any more.
func (c *connection) settle(ctx context.Context, p *prompt, r *request, answer closing) (grace bool) {
	h := c.hub
	defer h.lock().unlock()
	chosen := answer.cause == event.CauseAnswered || answer.cause == event.CauseDeclined ||
		answer.cause == event.CauseDismissed
	switch {
	case ctx.Err() != nil: // withdrawn in the same instant: the answer will not be written, so it did not count
		h.withdraw(r, context.Cause(ctx))
	case !chosen:
		h.cancel(r, &event.CancelCause{Origin: answer.origin, Reason: answer.reason})
	}
	if r.cancellation == nil {
		h.end(r, ending{state: event.StateDone})
		return false
	}
	h.end(r, ending{state: event.StateCancelled})
	return ctx.Err() == nil && (p.among || p.outlived || slices.ContainsFunc(p.holding, func(held *request) bool {
		return held.direction == event.Outgoing && (held.cancellation != nil || held.state.Terminal())
	}))
}

// withdraw ends a question of a server whose context ended. h.mu is held.
func (h *Hub) withdraw(r *request, cause error) {
	closed, cancelled := withdrawn(cause)
	for _, p := range inOrder(r.prompts, func(p *prompt) uint64 { return p.n }) {
		h.closePrompt(p, closed)
	}
	h.cancel(r, cancelled)
	h.end(r, ending{state: event.StateCancelled})
}

// withdrawn says how a question whose context ended is closed.
func withdrawn(cause error) (closing, *event.CancelCause) {
	if w, ok := errors.AsType[*jsonrpc.WithdrawnError](cause); ok {
		reason := bounds.Reason(w.Reason)
		return closing{cause: event.CauseWithdrawn, origin: event.OriginServer, reason: reason},
			&event.CancelCause{Origin: event.OriginServer, Reason: reason}
	}
	if cc, ok := errors.AsType[*event.CancelCause](cause); ok {
		if cc.Origin == event.OriginShutdown {
			return closing{cause: event.CauseShutdown, origin: event.OriginShutdown, reason: cc.Reason}, cc
		}
		return closing{cause: event.CauseParent, origin: event.OriginParent, reason: cc.Reason},
			&event.CancelCause{Origin: event.OriginParent, Reason: cc.Reason}
	}
	if _, ok := errors.AsType[*mcp.ElicitationCompleted](cause); ok {
		return closing{cause: event.CauseSuperseded, origin: event.OriginServer,
				reason: "the server reports that the page is done"},
			&event.CancelCause{Origin: event.OriginServer}
	}
	if _, ok := errors.AsType[*mcp.SiblingError](cause); ok {
		reason := "another question of the same call ended it"
		return closing{cause: event.CauseParent, origin: event.OriginParent, reason: reason},
			&event.CancelCause{Origin: event.OriginParent, Reason: reason}
	}
	return closing{cause: event.CauseServerGone, origin: event.OriginTransport, reason: connectionEnded},
		&event.CancelCause{Origin: event.OriginTransport, Reason: connectionEnded}
}

// Roots gives the workspace folders of all windows.
func (c *connection) Roots(context.Context) []mcp.Root {
	defer c.hub.lock().unlock()
	roots := []mcp.Root{}
	for _, root := range c.hub.roots() {
		roots = append(roots, mcp.Root{URI: root.URI, Name: root.Name})
	}
	return roots
}

// ToolsChanged forgets the tools and tells the windows.
func (c *connection) ToolsChanged() { c.Allowance.ToolsChanged(c.server.ToolsOutdated) }

// LateResponse shows that a server answered a call that had been cancelled. The answer itself is shown to nobody.
func (c *connection) LateResponse(id jsonrpc.ID) {
	h := c.hub
	defer h.lock().unlock()
	requestID := c.cancelled[id.String()]
	delete(c.cancelled, id.String())
	h.log.Info("late response dropped", "server", c.server.name, "request_id", requestID,
		"wire_id", bounds.Printable(id.String()))
	c.Note("lateResponseDropped", map[string]string{"requestId": requestID, "wireIdJson": id.String()})
}

// maxCancelled bounds how many cancelled calls are remembered for naming their late responses.
const maxCancelled = 1024

// noteCancelled remembers which request a wire id was. h.mu is held.
func (c *connection) noteCancelled(r *request) {
	if c.cancelled == nil || len(c.cancelled) >= maxCancelled {
		c.cancelled = map[string]string{}
	}
	c.cancelled[r.wireID] = r.id
}

func kindOf(k mcp.QuestionKind) event.PromptKind {
	switch k {
	case mcp.Sampling:
		return event.PromptSampling
	case mcp.ElicitationURL:
		return event.PromptElicitationURL
	}
	return event.PromptElicitationForm
}

func methodOf(k event.PromptKind) string {
	if k == event.PromptSampling {
		return "sampling/createMessage"
	}
	return "elicitation/create"
}

func hasTools(payload json.RawMessage) bool {
	some := false
	jsontext.Elements(jsontext.Get(payload, "tools"), func(json.RawMessage) bool {
		some = true
		return false
	})
	return some
}

// shownWireID is the JSON text of an id, "" when it is too long.
func shownWireID(text string) string {
	if len(text) > bounds.WireIDBytes {
		return ""
	}
	return text
}
