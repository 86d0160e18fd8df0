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

// request is one thing that can be cancelled. All fields but the first block are guarded by the hub's lock.
type request struct {
	id, tool, method string
	subject          string // what is asked for, for the methods that have no tool
	taskLabel, owner string
	n                uint64 // order
	server           *server
	launch           string // the launch key of its server when it was made
	direction        event.Direction
	uncancellable    bool   // the start of a session
	carried          bool   // a goroutine is in carryThrough with it
	ofWindow         bool   // a window asked for it: its result is told by the event of its end
	caller           Caller // that it is made for; nil: none that could be asked
	callerName       string
	arguments        string    // JSON text, to be kept at its end; "" = none
	preview          string    // of them
	title            string    // of its tool; untrusted
	questions        Questions // who is asked what the server asks
	expire           func()    // what happens when the total clock runs out; nil: the request is cancelled
	ctx              context.Context
	stop             context.CancelCauseFunc // called by cancel and end only
	start            time.Time
	over             chan struct{} // closed by end; nil until somebody wants to wait for that: see whenOver

	parent       *request
	children     map[*request]struct{}
	prompts      map[*prompt]struct{}
	state        event.RequestState
	handed       bool      // to the engine, which may have sent it
	leased       bool      // counts as a user of its server's connection
	inHand       bool      // a question of the hub's own that a person has answered: its goroutine alone is awaited
	since        time.Time // when state began
	timings      event.Timings
	cancellation *event.Cancellation
	cause        *event.CancelCause
	wireID       string
	resent       int // how often it was sent again, on a new session: see transport.Repeats
	progress     *event.Progress
	task         *event.TaskInfo // replaced, never changed
	clock        clock.Clock
	human        time.Duration // limit of one prompt, 0 = none
	// open prompts that stop the clocks: its own, its children's, and those of its server that name no request
	holds     int
	inFlight  allowance.ResultHold
	delivery  *outcome.Delivery // of its cancel, when that was on its way at its end
	abandoned chan struct{}     // closed when carryThrough has left a request that StopWaiting had ended; nil: it has not

	trace *journal.Timeline // never nil once it is registered; not changed then
	span  *telemetry.Span   // nil = no telemetry
}

// successors is the life of a request. cancelling may still end as done: a response that was in hand when the cancel
// came has won.
var successors = map[event.RequestState][]event.RequestState{
	event.StateQueued: {event.StateAwaitingApproval, event.StateConnecting, event.StateRunning, event.StateAwaitingInput,
		event.StateCancelling,
		event.StateFailed},
	event.StateAwaitingApproval: {event.StateQueued, event.StateConnecting, event.StateRunning, event.StateCancelling,
		event.StateFailed},
	event.StateConnecting: {event.StateAwaitingApproval, event.StateRunning, event.StateTaskWorking, event.StateCancelling,
		event.StateDone,
		event.StateFailed},
	event.StateRunning: {event.StateAwaitingInput, event.StateTaskWorking, event.StateConnecting, event.StateCancelling,
		event.StateDone,
		event.StateFailed},
	event.StateAwaitingInput: {event.StateRunning, event.StateTaskWorking, event.StateCancelling, event.StateDone,
		event.StateFailed},
	event.StateTaskWorking: {event.StateAwaitingInput, event.StateConnecting, event.StateCancelling, event.StateDone,
		event.StateFailed},
	event.StateCancelling: {event.StateCancelled, event.StateDone},
}

// moveTo is the one place that changes a request's state: it accounts the time, starts or stops the clocks, and tells
// the windows of the states that are not told by an event of their own. false: not a legal step, nothing changed.
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

// mint makes a request id. A host may have chosen the same one.
func (st *state) mint(prefix string) string {
	id := st.ownID(prefix, st.begun+1)
	for st.requests[id] != nil {
		id += "'"
	}
	return id
}

// ownID is an id that this hub gives out. A click on its way while a hub died and another took its place must find
// nothing there: so the id names the hub as well.
func (h *fixed) ownID(prefix string, n uint64) string {
	var room [64]byte
	id := append(append(append(append(room[:0], prefix...), '-'), h.mark...), '-')
	return string(strconv.AppendUint(id, n, 10))
}

// register brings a request, whose id is free, into the table and tells the windows.
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
			// who comes while a person is asked about the server waits for that, as those do who were there
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

// isOver is request.over of those that ended while nobody waited.
var isOver = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// whenOver gives what is closed at r's end. The hub's lock is held.
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
	sending     event.Sending // of a cancel
	mayContinue bool          // the server may go on all the same
	result      string        // for the windows, "" = not told
	raw         []byte        // the whole result, nil = none
}

// causeOver is why what a request has caused ends with it.
var causeOver = &event.CancelCause{Origin: event.OriginParent, Reason: "the request that caused it is over"}

// end takes the request out of the table and tells its one terminal event. Its prompts and its children end with it.
// false: it had ended.
func (st *state) end(r *request, e ending) bool {
	if st.requests[r.id] != r {
		return false
	}
	switch {
	case e.state == event.StateFailed && r.cancellation != nil:
		e.state = event.StateCancelled // whatever went wrong after a cancel was accepted, the cancel is what ended it
	case e.state == event.StateCancelled && r.cancellation == nil:
		st.cancel(r, &event.CancelCause{Origin: event.OriginTransport})
	}
	if e.state == event.StateCancelled && e.sending.Delivery == 0 {
		e.sending.Delivery = event.DeliveryNotNeeded // a question of a server, or the start of one
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
	if r.abandoned == nil || !r.leased { // else the connection is in use until carryThrough has left
		r.server.Release(r)
	}
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

// unheld takes a request that has ended out of what the open prompts hold: one may stay open for long, while a host
// tries again and again.
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

// takenBack ends what r caused and the server had taken back before r ends: the engine ends the context before it reads
// on, the goroutine that waits for the answer is only not there yet.
func (st *state) takenBack(r *request) {
	for _, child := range inOrder(r.children, func(c *request) uint64 { return c.n }) {
		if withdrawn := context.Cause(child.ctx); withdrawn != nil && child.cancellation == nil {
			st.withdraw(child, withdrawn)
		}
	}
}

// endOffspring closes the prompts of r and of the server requests that r caused, and ends the latter.
func (st *state) endOffspring(r *request, cause *event.CancelCause) {
	c := closesWith(cause)
	st.closePromptsUnder(r, c)
	for _, child := range inOrder(r.children, func(c *request) uint64 { return c.n }) {
		ends := &event.CancelCause{Origin: c.origin, Reason: cause.Reason}
		// withdraw does the same when it learns of the end of the connection first. The windows hear one order in both
		// cases.
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

// closesWith says how the prompts of a request close that ends with cause.
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

// inOrder gives the members of a set, oldest first.
func inOrder[T comparable](set map[T]struct{}, n func(T) uint64) []T {
	if len(set) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b T) int { return cmp.Compare(n(a), n(b)) })
}

// requestsInOrder gives the open requests, oldest first.
func (st *state) requestsInOrder() []*request {
	return slices.SortedFunc(maps.Values(st.requests), func(a, b *request) int { return cmp.Compare(a.n, b.n) })
}

// Requests lists the open requests of one server, or of all when server is "", oldest first.
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
