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

// prompt is one open question. It is open exactly while it is in state.prompts; whoever takes it out settles it.
type prompt struct {
	info      event.PromptInfo
	id        string
	n         uint64 // order
	request   *request
	withTools bool         // sampling that brings tools
	asker     *connection  // that asked; nil for a tool approval
	agrees    *agreement   // what a yes to a tool approval holds for; nil for all others
	launch    *grants.Form // what a yes to a launch holds for; nil for all others
	// all that waits for these waits for it; nil but for the hub's own questions about servers
	about    []*server
	settled  chan closing // buffered: the one that takes the prompt puts one in
	deadline *time.Timer  // nil = none
	holding  []*request   // whose clocks it stops; what ends is taken out
	outlived bool         // a call that it held has ended
	// it names no call, and calls of its server were open when it came: it may be of one of them
	among      bool
	candidates map[*request]struct{} // of these, those that are open still
	humanLimit time.Duration         // for the error text
	caller     Caller                // is asked as well; nil: nobody but windows
	question   *mcp.Question         // that caller is asked
	tried      []*request            // in whose course; with question
	hidden     bool                  // only caller is asked: no window hears of it
	checks     int                   // answers whose content is being compared
	with       *shared               // whose servers wait, too; nil: none
	// told is called when the question is open (+1) and over (-1), with the lock; nil: nobody wants to know
	told func(by int)
}

// closing is how a prompt ended.
type closing struct {
	cause    event.PromptCause
	origin   event.Origin
	reason   string
	windowID string
	action   event.Action // what the asker is told
	scope    event.ApprovalScope
	content  string
	byHost   bool            // the host keeps the value of an input itself
	result   json.RawMessage // of a caller: what it has answered, as it is
	refusal  *jsonrpc.Error  // of a caller: it has answered with an error
}

// ask shows a question to the windows and waits for the first answer, or for whatever else ends it; there is no other
// way to ask a person. open makes the prompt, with the lock; nil: nobody is to be asked, and the closing stays zero.
// over, with the lock again, draws the consequences of the end and gives what ask does. The zero closing tells it that
// ctx has ended; p may still be open then.
func (h *Hub) ask(ctx context.Context, open func(*state) (*prompt, error),
	over func(*state, *prompt, closing) (closing, error)) (c closing, err error) {
	var p *prompt
	h.update(func(st *state) {
		if p, err = open(st); p != nil {
			st.openPrompt(p)
			st.asks(p, +1)
		}
	})
	if p == nil {
		return closing{}, err
	}
	stop := h.askCaller(p)
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

// openPrompt shows a question in every window that declared its kind.
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

// heldBy gives the requests that wait for a person when p's request asks: that one, and what caused it, when that is
// known. A question of nobody's stops nobody's clock: a server could keep all of its calls open by asking.
func (st *state) heldBy(p *prompt) []*request {
	r := p.request
	held := []*request{r}
	switch {
	case p.about != nil: // everything of these servers waits for it, the start of a session too
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

// callsOf gives the open calls of s.
func (st *state) callsOf(s *server) map[*request]struct{} {
	calls := map[*request]struct{}{}
	for _, r := range st.requests {
		if r.server == s && r.direction == event.Outgoing && !r.uncancellable {
			calls[r] = struct{}{}
		}
	}
	return calls
}

// endAmong closes the questions that r was the last call for: whichever of its server's calls such a question belongs
// to is over. A server that never withdraws would fill its places with them. r is not in the table any more, and has
// ended with cause, which tells when not the call alone is over but its connection or the hub.
func (st *state) endAmong(r *request, cause *event.CancelCause) {
	if r.direction != event.Outgoing || len(st.prompts) == 0 {
		return
	}
	c := closesWith(cause)
	if c.cause == event.CauseParent {
		c.reason = causeOver.Reason // of one of several: the reason of its cancel says nothing about the question
	}
	for _, p := range st.promptsInOrder() {
		if _, may := p.candidates[r]; !may {
			continue
		}
		if delete(p.candidates, r); len(p.candidates) == 0 {
			st.closePrompt(p, c)
		}
	}
}

// waiting shows that r, and the call that caused it, wait for the user.
func (st *state) waiting(r *request) {
	for ; r != nil; r = r.parent {
		if r.state == event.StateRunning || r.state == event.StateTaskWorking || r.state == event.StateQueued &&
			r.direction == event.Incoming {
			st.moveTo(r, event.StateAwaitingInput)
		}
	}
}

// resume shows that a call runs again once no open prompt holds it. The last one may be one that names no call, so each
// prompt that closes looks at all that it held.
func (st *state) resume(r *request) {
	if r.state == event.StateAwaitingInput && r.direction == event.Outgoing && r.holds == 0 {
		if r.task != nil {
			st.moveTo(r, event.StateTaskWorking)
		} else {
			st.moveTo(r, event.StateRunning)
		}
	}
}

// closePrompt takes p and settles it. false: somebody else had taken it.
func (st *state) closePrompt(p *prompt, c closing) bool {
	if st.prompts[p.id] != p {
		return false
	}
	delete(st.prompts, p.id)
	delete(p.request.prompts, p)
	st.tracedPrompt(p, c.cause)
	if p.about != nil && (c.cause == event.CauseAnswered || c.cause == event.CauseDeclined ||
		c.cause == event.CauseDismissed) {
		p.request.inHand = true
	}
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
	p.settled <- c
	return true
}

// promptTimeout ends a prompt whose human clock ran out. The call that it belongs to times out; a server's question is
// answered as dismissed.
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

// closePromptsOf closes what a connection asked, when it is gone: nobody could take the answers.
func (st *state) closePromptsOf(asker *connection, c closing) {
	for _, p := range st.promptsInOrder() {
		if p.asker == asker {
			st.closePrompt(p, c)
		}
	}
}

// promptsInOrder gives the open prompts, oldest first.
func (st *state) promptsInOrder() []*prompt {
	return slices.SortedFunc(maps.Values(st.prompts), func(a, b *prompt) int { return cmp.Compare(a.n, b.n) })
}
