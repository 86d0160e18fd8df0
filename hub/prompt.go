package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/prompts"
)

// prompt is one open question. It is open as long as it is in state.prompts. Whoever removes it settles it.
type prompt struct {
	info      event.PromptInfo
	id        string
	n         uint64 // position in the order of all prompts
	request   *request
	withTools bool         // sampling that brings tools
	asker     *connection  // the connection that asked; nil for the hub's own questions
	agrees    *agreement   // what a yes to a tool approval holds for; nil for all others
	launch    *grants.Form // what a yes to a launch holds for; nil for all others
	// the servers whose requests wait for the answer; nil except for the hub's own questions about servers
	about    []*server
	settled  chan closing // buffered: closePrompt sends once, and does not block
	deadline *time.Timer  // nil = none
	holding  []*request   // the requests whose clocks the prompt stops; those that end are removed
	outlived bool         // a call whose clocks it stopped has ended
	// the question names no call, and calls of its server were open when it came, so it may belong to one of them
	among      bool
	candidates map[*request]struct{} // those calls, as far as they are still open
	humanLimit time.Duration         // for the error text
	caller     Caller                // the client that is asked, too; nil: only windows are asked
	question   *mcp.Question         // what caller is asked
	tried      []*request            // the requests in whose course it was asked
	asking     context.Context       // of caller's question; nil if there is none
	endAsking  context.CancelCauseFunc
	hidden     bool    // only caller is asked, and no window shows it
	checks     int     // answers whose content is being compared
	with       *shared // further servers that wait for the answer; nil: none
	// told is called, with the lock held, when the question has opened (+1) or closed (-1); may be nil
	told func(by int)
}

// closing is how a prompt ended.
type closing struct {
	cause    event.PromptCause
	origin   event.Origin
	reason   string
	windowID string
	action   event.Action // the answer to the asker
	scope    event.ApprovalScope
	content  string
	byHost   bool            // the host keeps the value of an input itself
	result   json.RawMessage // the answer of a caller, as it came
	refusal  *jsonrpc.Error  // the error that a caller answered with
}

// ask shows a question to the windows, and waits for the first answer or another end. Every question to a person is
// asked by it. open makes the prompt, with the lock held; if open returns nil, nobody is asked, and ask returns the
// zero closing. over handles the end, with the lock held again, and its results are those of ask. If the closing that
// over gets is zero, ctx has ended, and the prompt may still be open.
func (h *Hub) ask(ctx context.Context, open func(*state) (*prompt, error),
	over func(*state, *prompt, closing) (closing, error)) (c closing, err error) {
	var p *prompt
	var first Caller
	h.update(func(st *state) {
		if p, err = open(st); p != nil {
			if first = p.caller; first != nil {
				p.asking, p.endAsking = context.WithCancelCause(context.Background())
			}
			st.openPrompt(p)
			st.asks(p, +1)
		}
	})
	if p == nil {
		return closing{}, err
	}
	stop := h.askCaller(p, first)
	select {
	case c = <-p.settled:
	case <-ctx.Done():
	}
	stop(answeredElsewhere(c, context.Cause(ctx)))
	st := h.lock()
	defer st.unlock()
	st.asks(p, -1)
	return over(st, p, c)
}

// openPrompt opens p in every window that declared its kind.
func (st *state) openPrompt(p *prompt) {
	now := time.Now()
	st.asked++
	p.n = st.asked
	p.id = st.ownID("prompt", p.n)
	p.settled = make(chan closing, 1)
	r := p.request
	p.info.ID, p.info.Server, p.info.RequestID, p.info.Open = p.id, r.server.name, r.id, now
	if r.parent != nil {
		p.info.ParentRequestID = r.parent.id
	}
	if p.humanLimit > 0 {
		p.info.Deadline = now.Add(p.humanLimit)
		p.deadline = time.AfterFunc(p.humanLimit, func() { st.hub.promptTimeout(p) })
	}
	st.prompts[p.id] = p
	if r.prompts == nil {
		r.prompts = map[*prompt]struct{}{}
	}
	r.prompts[p] = struct{}{}
	p.holding = st.heldBy(p)
	if p.asker != nil && r.direction == event.Incoming && r.parent == nil {
		p.candidates = st.callsOf(r.server)
		p.among = len(p.candidates) > 0
	}
	for _, held := range p.holding {
		st.hold(held, +1)
	}
	st.tracedPrompt(p, 0)
	st.waiting(r)
	if !p.hidden {
		st.emit(&event.PromptOpened{Prompt: p.info})
	}
}

// heldBy returns the requests whose clocks p stops: its own, and the call that caused it, if that is known. A question
// of a server that belongs to no call stops no other clock, since a server could otherwise keep all of its calls open
// by asking.
func (st *state) heldBy(p *prompt) []*request {
	r := p.request
	held := []*request{r}
	switch {
	case p.about != nil: // all requests to these servers wait for it, including the start of a session
		for _, other := range st.requests {
			if slices.Contains(p.about, other.server) && other.direction == event.Outgoing && other != r {
				held = append(held, other)
			}
		}
	case r.direction == event.Outgoing:
	case r.parent != nil:
		held = append(held, r.parent)
	}
	return held
}

// callsOf returns the open calls of s.
func (st *state) callsOf(s *server) map[*request]struct{} {
	calls := map[*request]struct{}{}
	for _, r := range st.requests {
		if r.server == s && r.direction == event.Outgoing && !r.uncancellable {
			calls[r] = struct{}{}
		}
	}
	return calls
}

// endAmong closes the questions for which r was the last candidate: all calls that such a question may belong to are
// over. Otherwise a server that never withdraws a question would use up its places for questions. r was removed from
// the table, and has ended with cause. The cause shows whether the connection or the hub has ended, too.
func (st *state) endAmong(r *request, cause *event.CancelCause) {
	if r.direction != event.Outgoing || len(st.prompts) == 0 {
		return
	}
	c := closesWith(cause)
	if c.cause == event.CauseParent {
		c.reason = causeOver.Reason // why one candidate was cancelled says nothing about the question
	}
	for _, p := range st.promptsInOrder() {
		if _, may := p.candidates[r]; !may {
			continue
		}
		delete(p.candidates, r)
		// The server may have withdrawn it before r ended.
		if !st.withdrawIfTakenBack(p.request) && len(p.candidates) == 0 {
			st.closePrompt(p, c)
		}
	}
}

// waiting moves r, and the calls that caused it, to StateAwaitingInput.
func (st *state) waiting(r *request) {
	for ; r != nil; r = r.parent {
		if r.state == event.StateRunning || r.state == event.StateTaskWorking || r.state == event.StateQueued &&
			r.direction == event.Incoming {
			st.moveTo(r, event.StateAwaitingInput)
		}
	}
}

// resume moves a call back to running, or to its task, once no open prompt holds it. The last prompt that holds it may
// be one about its server, which names no call, so every prompt that closes calls resume for all requests that it held.
func (st *state) resume(r *request) {
	if r.state == event.StateAwaitingInput && r.direction == event.Outgoing && r.holds == 0 {
		if r.task != nil {
			st.moveTo(r, event.StateTaskWorking)
		} else {
			st.moveTo(r, event.StateRunning)
		}
	}
}

// closePrompt removes p and settles it with c. It returns false if somebody else has removed it.
func (st *state) closePrompt(p *prompt, c closing) bool {
	if st.prompts[p.id] != p {
		return false
	}
	delete(st.prompts, p.id)
	delete(p.request.prompts, p)
	st.tracedPrompt(p, c.cause)
	if p.deadline != nil {
		p.deadline.Stop()
	}
	if p.asker != nil {
		p.request.server.allowance.Settled(c.cause)
	}
	for _, held := range p.holding {
		if st.requests[held.id] == held {
			st.hold(held, -1)
			st.resume(held)
		}
	}
	if !p.hidden {
		st.emit(&event.PromptClosed{PromptID: p.id, Cause: c.cause, Reason: c.reason, WindowID: c.windowID, Origin: c.origin})
	}
	if p.asking != nil {
		p.endAsking(answeredElsewhere(c, nil))
	}
	p.settled <- c
	return true
}

// promptTimeout closes a prompt whose human clock has run out, as dismissed. It also cancels the prompt's request,
// which is the call of an approval, the question of a server, or the question about a server. For a question in a round
// of a call it only closes the prompt.
func (h *Hub) promptTimeout(p *prompt) {
	st := h.lock()
	defer st.unlock()
	r := p.request
	reason := "timeouts.human of " + p.humanLimit.String() + " exceeded"
	if !st.closePrompt(p, closing{cause: event.CauseTimeout, origin: event.OriginTimeout, reason: reason,
		action: event.ActionDismiss}) {
		return
	}
	if p.agrees != nil || p.about != nil || r.direction == event.Incoming {
		st.cancel(r, &event.CancelCause{Origin: event.OriginTimeout, Reason: reason,
			Err: prompts.ErrTimeout(&p.info, p.humanLimit, r.server.Where())})
	}
}

// closePromptsOf closes the prompts of a connection that has ended, since nobody could take the answers.
func (st *state) closePromptsOf(asker *connection, c closing) {
	for _, p := range st.promptsInOrder() {
		if p.asker == asker {
			st.closePrompt(p, c)
		}
	}
}

// promptsInOrder returns the open prompts, oldest first.
func (st *state) promptsInOrder() []*prompt {
	return slices.SortedFunc(maps.Values(st.prompts), func(a, b *prompt) int { return cmp.Compare(a.n, b.n) })
}
