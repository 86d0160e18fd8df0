package hub

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/allowance"
	"github.com/mcphub-go/mcphub/hub/clock"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/prompts"
	"github.com/mcphub-go/mcphub/hub/telemetry"
)

// request is an operation that can be cancelled. The fields of the first block do not change once the request is
// registered, except title and over. These two and all other fields are guarded by the hub's lock.
type request struct {
	id, tool, method string
	subject          string // the target, for methods without a tool
	taskLabel, owner string
	n                uint64 // position in the order of all requests
	server           *server
	launch           string // the launch key of its server when the request was made
	direction        event.Direction
	uncancellable    bool   // it is the start of a session
	carried          bool   // a goroutine is in carryThrough with it
	ofWindow         bool   // a window asked for it, and gets the result by the event of its end
	caller           Caller // the client for which it is made; nil: none that could be asked
	callerName       string
	arguments        string    // JSON text, stored when the request ends; "" = none
	preview          string    // of the arguments
	title            string    // of the tool; untrusted
	questions        Questions // who is asked what the server asks
	expire           func()    // called when the total clock has run out; nil: the request is cancelled
	ctx              context.Context
	stop             context.CancelCauseFunc // called by cancel and end only
	start            time.Time
	over             chan struct{} // closed by end; nil until somebody wants to wait for that: see whenOver

	parent       *request
	children     map[*request]struct{}
	prompts      map[*prompt]struct{}
	state        event.RequestState
	turn         *turn     // nil: its server's calls take no turns, or it has not come so far
	handed       bool      // given to the engine, which may have sent it
	leased       bool      // it counts as a user of its server's connection
	since        time.Time // the start of state
	timings      event.Timings
	cancellation *event.Cancellation
	cause        *event.CancelCause
	wireID       string
	resent       int // how often it was sent again on a new session: see transport.Repeats
	progress     *event.Progress
	task         *event.TaskInfo // replaced as a whole, never changed
	clock        clock.Clock
	human        time.Duration // limit of one prompt, 0 = none
	// number of open prompts that stop the clocks: its own, its children's, and those about its server
	holds    int
	inFlight allowance.ResultHold
	delivery *outcome.Delivery // of its cancel, if that was still being sent when the request ended

	trace *journal.Timeline // not nil once the request is registered, and not changed after that
	span  *telemetry.Span   // nil = no telemetry
}

// successors lists the states that may follow each state of a request. A cancelling request may still end as done: then
// the response was there when the cancel came, and wins.
var successors = map[event.RequestState][]event.RequestState{
	event.StateQueued: {event.StateAwaitingApproval, event.StateConnecting, event.StateRunning, event.StateAwaitingInput,
		event.StateCancelling,
		event.StateFailed},
	event.StateAwaitingApproval: {event.StateQueued, event.StateConnecting, event.StateRunning, event.StateCancelling,
		event.StateFailed},
	event.StateConnecting: {event.StateQueued, event.StateAwaitingApproval, event.StateRunning, event.StateTaskWorking,
		event.StateCancelling, event.StateDone, event.StateFailed},
	event.StateRunning: {event.StateAwaitingInput, event.StateTaskWorking, event.StateConnecting, event.StateCancelling,
		event.StateDone,
		event.StateFailed},
	event.StateAwaitingInput: {event.StateRunning, event.StateTaskWorking, event.StateCancelling, event.StateDone,
		event.StateFailed},
	event.StateTaskWorking: {event.StateAwaitingInput, event.StateConnecting, event.StateCancelling, event.StateDone,
		event.StateFailed},
	event.StateCancelling: {event.StateCancelled, event.StateDone},
}

// moveTo changes a request's state; nothing else does. It accounts the time, starts or stops the clocks, and sends the
// windows the states that have no event of their own. It returns false, and changes nothing, if the step is not
// allowed.
func (st *state) moveTo(r *request, to event.RequestState) bool {
	if r.state == to || !slices.Contains(successors[r.state], to) {
		return false
	}
	now := time.Now()
	r.account(now)
	r.state, r.since = to, now
	r.handed = r.handed || r.carried && to == event.StateRunning
	r.trace.State(to)
	r.wind(now)
	if to < event.StateCancelling {
		st.emitProgress(r)
	}
	return true
}

// account adds the time since the last change of state or hold to its bucket.
func (r *request) account(now time.Time) {
	d := now.Sub(r.since)
	r.since = now
	switch {
	case r.holds > 0 || r.state == event.StateAwaitingApproval || r.state == event.StateAwaitingInput:
		r.timings.Human += d
	case r.state == event.StateRunning || r.state == event.StateTaskWorking || r.state == event.StateCancelling:
		r.timings.Active += d
	default:
		r.timings.Queued += d
	}
}

func (st *state) emitProgress(r *request) {
	if st.windows.Len() == 0 {
		return
	}
	st.emit(&event.RequestProgressed{RequestID: r.id, Server: r.server.name, State: r.state, Progress: r.progress,
		WireID: r.wireID, Task: r.task})
}

// mint returns a new request id. It avoids an id that a host has chosen for an open request.
func (st *state) mint(prefix string) string {
	id := st.ownID(prefix, st.begun+1)
	for st.requests[id] != nil {
		id += "'"
	}
	return id
}

// ownID returns an id that names this hub, too. If a hub dies and another one takes its place, an answer or a cancel
// that was meant for the old hub must not find anything in the new one.
func (h *fixed) ownID(prefix string, n uint64) string {
	var room [64]byte
	id := append(append(append(append(room[:0], prefix...), '-'), h.mark...), '-')
	return string(strconv.AppendUint(id, n, 10))
}

// register adds a request, whose id is free, to the table, and tells the windows.
func (st *state) register(ctx context.Context, r *request) {
	st.begun++
	r.n = st.begun
	r.ctx, r.stop = context.WithCancelCause(ctx)
	r.start = time.Now()
	r.since = r.start
	r.state = event.StateQueued
	if r.trace == nil {
		r.trace = st.record.NewTimeline()
	}
	r.trace.Begin(r.n)
	r.trace.State(event.StateQueued)
	st.startSpan(ctx, r)
	st.requests[r.id] = r
	if r.parent != nil {
		if r.parent.children == nil {
			r.parent.children = map[*request]struct{}{}
		}
		r.parent.children[r] = struct{}{}
	}
	if r.direction == event.Outgoing {
		for _, p := range st.prompts {
			// a request that comes while a person is asked about the server waits for the answer, as the earlier ones do
			if slices.Contains(p.about, r.server) {
				p.holding = append(p.holding, r)
				r.holds++
			}
		}
	}
	r.wind(r.start)
	if st.windows.Len() > 0 {
		st.emit(&event.RequestStarted{Request: r.info()})
	}
}

// isOver is request.over of the requests that ended while nobody waited.
var isOver = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// whenOver returns a channel that is closed when r ends. The hub's lock is held.
func (r *request) whenOver() <-chan struct{} {
	if r.over == nil {
		r.over = make(chan struct{})
	}
	return r.over
}

// ending is how a request ended.
type ending struct {
	state       event.RequestState // StateDone, StateFailed or StateCancelled
	isError     bool
	mcpError    *event.McpError
	err         *event.Error
	sending     event.Sending // of the cancel
	mayContinue bool          // the server may nevertheless go on
	result      string        // for the windows; "" = not sent
	raw         []byte        // the whole result; nil = none
}

// causeOver is the cause with which everything that a request has caused ends with the request.
var causeOver = &event.CancelCause{Origin: event.OriginParent, Reason: "the request that caused it is over"}

// end removes the request from the table and emits its one terminal event. Its prompts and its children end with it. It
// returns false if the request had ended.
func (st *state) end(r *request, e ending) bool {
	if st.requests[r.id] != r {
		return false
	}
	switch {
	case e.state == event.StateFailed && r.cancellation != nil:
		e.state = event.StateCancelled // whatever failed after a cancel was accepted, the request ends as cancelled
	case e.state == event.StateCancelled && r.cancellation == nil:
		st.cancel(r, &event.CancelCause{Origin: event.OriginTransport})
	}
	if e.state == event.StateCancelled && e.sending.Delivery == 0 {
		e.sending.Delivery = event.DeliveryNotNeeded // r is a question of a server, or the start of a server
	}
	cause := causeOver
	switch {
	case r.cause != nil:
		cause = r.cause
	case outcome.Disconnected(e.err):
		cause = &event.CancelCause{Origin: event.OriginTransport, Reason: prompts.ConnectionEnded}
	}
	st.takenBack(r)
	st.endOffspring(r, cause)
	if !st.moveTo(r, e.state) {
		st.log.Error("illegal end of a request", "request_id", r.id, "from", r.state.String(), "to", e.state.String())
		return false
	}
	st.tracedEnd(r, e)
	st.endSpan(r, e)
	delete(st.requests, r.id)
	st.keep(r, e)
	st.endAmong(r, cause)
	r.server.turns.end(r.turn, e.mayContinue)
	st.unheld(r)
	st.ended.Add(r.id)
	if r.parent != nil {
		delete(r.parent.children, r)
	}
	r.stop(cause)
	if r.over == nil {
		r.over = isOver
	} else {
		close(r.over)
	}
	r.server.Release(r)
	if r.direction == event.Incoming {
		r.server.Answered()
	}
	if e.state == event.StateCancelled {
		st.emit(&event.RequestCancelled{
			RequestID: r.id, Server: r.server.name, Direction: r.direction, Method: r.method, Tool: r.tool, Subject: r.subject,
			Caller: r.callerName, Preview: r.preview, Title: r.title,
			Cancellation: *r.cancellation, WireID: r.wireID, Sending: e.sending, ServerMayContinue: e.mayContinue,
			Timings: r.timings, Era: r.server.Era(), Err: r.cause.Err, Task: r.task,
		})
		if e.sending.Delivery == event.DeliveryPending {
			r.delivery = &outcome.Delivery{Request: r.id, Server: r.server.name, Trace: r.trace, Ended: st.windows.Seq()}
			st.deliveries.Expect(r.delivery)
		}
		return true
	}
	st.emit(&event.RequestFinished{
		RequestID: r.id, Server: r.server.name, Direction: r.direction, Method: r.method, Tool: r.tool, Subject: r.subject,
		Caller: r.callerName, Preview: r.preview, Title: r.title,
		State: e.state, IsError: e.isError, McpError: e.mcpError.Shown(), Err: e.err, ServerMayContinue: e.mayContinue,
		Timings: r.timings, Task: r.task,
		Result: e.result, ResultSize: len(e.raw),
	})
	return true
}

// unheld removes a request that has ended from the lists of the requests that prompts hold. A prompt may stay open for
// long, while a host makes one request after the other.
func (st *state) unheld(r *request) {
	if r.holds == 0 {
		return
	}
	for _, p := range st.prompts {
		if i := slices.Index(p.holding, r); i >= 0 {
			p.holding = slices.Delete(p.holding, i, i+1)
			p.outlived = p.outlived || r.direction == event.Outgoing
		}
	}
}

// endOffspring closes the prompts of r and of the server requests that r caused, and ends these requests.
func (st *state) endOffspring(r *request, cause *event.CancelCause) {
	c := closesWith(cause)
	st.closePromptsUnder(r, c)
	for _, child := range inOrder(r.children, func(c *request) uint64 { return c.n }) {
		ends := &event.CancelCause{Origin: c.origin, Reason: cause.Reason}
		// withdraw does the same if it sees the end of the connection first. So the windows get the events in the same order
		// in both cases.
		if c.cause == event.CauseServerGone {
			child.stop(ends)
			st.closePromptsUnder(child, c)
		}
		st.cancel(child, ends)
		st.end(child, ending{state: event.StateCancelled})
	}
}

// closePromptsUnder closes the prompts that r waits for, oldest first.
func (st *state) closePromptsUnder(r *request, c closing) {
	for _, p := range inOrder(r.prompts, func(p *prompt) uint64 { return p.n }) {
		st.closePrompt(p, c)
	}
}

// closesWith returns how the prompts of a request that ends with cause are closed.
func closesWith(cause *event.CancelCause) closing {
	c := closing{cause: event.CauseParent, origin: event.OriginParent, reason: cause.Reason, action: event.ActionDismiss}
	switch cause.Origin {
	case event.OriginShutdown:
		c.cause, c.origin = event.CauseShutdown, event.OriginShutdown
	case event.OriginTransport:
		c.cause, c.origin = event.CauseServerGone, event.OriginTransport
	}
	return c
}

// inOrder returns the members of a set, oldest first. n returns the position of a member.
func inOrder[T comparable](set map[T]struct{}, n func(T) uint64) []T {
	if len(set) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b T) int { return cmp.Compare(n(a), n(b)) })
}

// requestsInOrder returns the open requests, oldest first.
func (st *state) requestsInOrder() []*request {
	return slices.SortedFunc(maps.Values(st.requests), func(a, b *request) int { return cmp.Compare(a.n, b.n) })
}

// Requests lists the open requests of one server, or of all servers if server is "", oldest first.
func (h *Hub) Requests(server string) []event.RequestInfo {
	st := h.lock()
	defer st.unlock()
	server = st.canonical(server)
	var list []event.RequestInfo
	for _, r := range st.requestsInOrder() {
		if server == "" || r.server.name == server {
			list = append(list, r.info())
		}
	}
	return list
}

func (r *request) info() event.RequestInfo {
	i := event.RequestInfo{
		ID: r.id, Server: r.server.name, Direction: r.direction, Method: r.method, Tool: r.tool, Subject: r.subject,
		State: r.state, Task: r.task, TaskLabel: r.taskLabel, Caller: r.callerName, Start: r.start, WireID: r.wireID,
		Preview: r.preview, Title: r.title, Progress: r.progress, Cancellation: r.cancellation,
	}
	if r.parent != nil {
		i.ParentRequestID = r.parent.id
	}
	for _, p := range inOrder(r.prompts, func(p *prompt) uint64 { return p.n }) {
		if p.hidden {
			continue
		}
		i.OpenPromptIDs = append(i.OpenPromptIDs, p.id)
	}
	return i
}
