package hub

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
)

// request is what the hub keeps of an operation that can be cancelled, besides what the core knows of it: its texts,
// and the goroutine that carries it. The fields of the first block do not change once the request is registered, except
// title. That and all other fields are guarded by the hub's lock.
type request struct {
	number           core.RequestNumber
	id, tool, method string
	subject          string // the target, for methods without a tool
	taskLabel        string
	server           *server
	launch           string // the launch key of its server when the request was made
	direction        event.Direction
	parent           *request // the call in whose course a server asks
	carried          bool     // a goroutine is in carryThrough with it
	ofWindow         bool     // a window asked for it, and gets the result by the event of its end
	caller           Caller   // the client for which it is made; nil: none that could be asked
	callerName       string
	arguments        string // JSON text, stored when the request ends; "" = none
	preview          string // of the arguments
	title            string // of the tool; untrusted
	expire           func() // called when the time of a start is over
	human            time.Duration
	ctx              context.Context
	stop             context.CancelCauseFunc // called when the core says so
	start            time.Time

	over     chan struct{}      // closed when it ends; nil until somebody wants to wait for that: see whenOver
	ending   *ending            // how its goroutine came back; nil until then
	cause    *event.CancelCause // of its cancel
	timings  event.Timings      // once it has ended
	timer    *time.Timer        // of its clocks
	turn     chan struct{}      // closed when its turn has come; nil if it waits for none
	wireID   string
	resent   int // how often it was sent again on a new session: see transport.Repeats
	progress *event.Progress
	task     *event.TaskInfo // replaced as a whole, never changed
	inFlight resultHold
	delivery *delivery // of its cancel, if that was still being sent when the request ended

	trace *journal.Timeline // not nil once the request is registered, and not changed after that
	span  *journal.Span     // nil = no telemetry
}

// ending is how a request ended, besides what the core knows.
type ending struct {
	state        event.RequestState // StateDone, StateFailed or StateCancelled
	cancellation *event.Cancellation
	isError      bool
	mcpError     *event.McpError
	err          *event.Error
	sending      event.Sending // of the cancel
	mayContinue  bool          // the server may nevertheless go on
	result       string        // for the windows; "" = not sent
	raw          []byte        // the whole result; nil = none
}

// make registers a request. r.ctx is the context that its own is made of.
func (st *state) make(r *request, e core.RequestMade) core.Refusal {
	st.making = r
	got := st.apply(e)
	st.making = nil
	return got.refused
}

// now returns what the core knows of r. It is the zero value if r has ended.
func (st *state) now(r *request) core.Request {
	now, _ := st.core.Request(r.number)
	return now
}

// isOpen reports whether r has not ended.
func (st *state) isOpen(r *request) bool { return st.requests[r.number] == r }

// cancel accepts a cancel of r. A second one changes nothing.
func (st *state) cancel(r *request, cause *event.CancelCause) {
	st.seeWithdrawals(r)
	st.apply(core.RequestGivenUp{Request: r.number, Cause: cause})
}

// end says that the goroutine of r has come back with e.
func (st *state) end(r *request, e ending, over core.CallOver) {
	if !st.isOpen(r) {
		return
	}
	st.seeWithdrawals(r)
	r.ending = &e
	over.Request, over.Failed, over.Lost = r.number, e.state != event.StateDone, lostConnection(e.err)
	over.MayContinue = e.mayContinue
	st.apply(over)
}

// seeWithdrawals tells the core which questions that r has caused, or may have caused, the server has withdrawn. The
// engine has ended their contexts already, but the goroutines that wait for the answers may not have run yet.
func (st *state) seeWithdrawals(r *request) {
	for _, n := range st.core.Questions(r.number) {
		if q := st.requests[n]; q != nil && q.cause == nil && q.ctx.Err() != nil {
			st.apply(core.AskerLeft{Request: n, Leave: leaveOf(context.Cause(q.ctx))})
		}
	}
}

// seeWithdrawalsIn is seeWithdrawals for the requests of a scope.
func (st *state) seeWithdrawalsIn(scope core.Scope) {
	for _, n := range st.core.Within(scope) {
		if r := st.requests[n]; r != nil { // it has not ended with another one
			st.seeWithdrawals(r)
		}
	}
}

// cancelScope cancels the requests of a scope, and returns those that are open, oldest first: what they had caused has
// ended.
func (st *state) cancelScope(scope core.Scope, cause *event.CancelCause) (list []*request) {
	st.seeWithdrawalsIn(scope)
	st.apply(core.ScopeCancelled{Scope: scope, Cause: cause})
	for _, n := range st.core.Within(scope) {
		list = append(list, st.requests[n])
	}
	return list
}

// isOver is what whenOver returns of a request that ended while nobody waited.
var isOver = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// whenOver returns a channel that is closed when r ends.
func (st *state) whenOver(r *request) <-chan struct{} {
	switch {
	case r.over != nil:
		return r.over
	case !st.isOpen(r):
		return isOver
	}
	r.over = make(chan struct{})
	return r.over
}

// setTimer makes the core look at the clocks of r at that time.
func (r *request) setTimer(at time.Time) {
	left := time.Until(at)
	if r.timer != nil {
		r.timer.Reset(left)
		return
	}
	h, n := r.server.hub, r.number
	r.timer = time.AfterFunc(left, func() { h.update(func(st *state) { st.apply(core.RequestTimer{Request: n}) }) })
}

// setTurnTimer makes the core look at the turns at a server at that time. One that has fired, and waits for the lock,
// counts no more: each would set a further one.
func (st *state) setTurnTimer(n core.ServerNumber, at time.Time) {
	if before := st.turnTimers[n]; before != nil {
		before.Stop()
	}
	h := st.hub
	var timer *time.Timer
	timer = time.AfterFunc(time.Until(at), func() {
		h.update(func(st *state) {
			if st.turnTimers[n] == timer {
				delete(st.turnTimers, n)
				st.apply(core.TurnTimer{Server: n})
			}
		})
	})
	st.turnTimers[n] = timer
}

// Requests lists the open requests of one server, or of all servers if server is "", oldest first.
func (h *Hub) Requests(server string) []event.RequestInfo {
	st := h.lock()
	defer st.unlock()
	server = st.canonical(server)
	return st.requestInfos(func(r *request) bool { return server == "" || r.server.name == server })
}

func (st *state) requestInfos(fits func(*request) bool) (list []event.RequestInfo) {
	for _, now := range st.core.Requests() {
		if r := st.requests[now.Number]; fits(r) {
			list = append(list, st.info(r, now))
		}
	}
	return list
}

// base returns what does not depend on the state of r.
func (r *request) base() event.RequestInfo {
	i := event.RequestInfo{
		ID: r.id, Server: r.server.name, Direction: r.direction, Method: r.method, Tool: r.tool, Subject: r.subject,
		Task: r.task, TaskLabel: r.taskLabel, Caller: r.callerName, Start: r.start, WireID: r.wireID,
		Preview: r.preview, Title: r.title, Progress: r.progress,
	}
	if r.parent != nil {
		i.ParentRequestID = r.parent.id
	}
	return i
}

func (st *state) info(r *request, now core.Request) event.RequestInfo {
	i := r.base()
	i.State, i.Cancellation = now.State, now.Cancel
	for _, n := range now.Prompts {
		if !st.core.Hidden(n) {
			i.OpenPromptIDs = append(i.OpenPromptIDs, st.prompts[n].id)
		}
	}
	return i
}

// keep stores the arguments and the result of r. Questions of servers and people's answers are not stored, since forms
// may contain secrets.
func (st *state) keep(r *request, e *ending) {
	if r.carried {
		st.kept.Keep(&journal.KeptRequest{ID: r.id, Server: r.server.name, Launch: r.launch, Tool: r.tool,
			Arguments: r.arguments, Result: e.raw})
	}
}

// ReadRequest returns a piece of the arguments or of the result of an ended tool call, read resource or filled prompt
// template, byte for byte. If several requests had this id, the latest counts. Of an open request only the arguments
// can be read. Errors: NOT_FOUND REQUEST_NOT_KEPT, NO_RESULT; FAILED_PRECONDITION REQUEST_OPEN.
func (h *Hub) ReadRequest(id string, part journal.Part, offset int64, limit int) (journal.Piece, error) {
	open, ours, given := false, false, ""
	h.update(func(st *state) {
		if r := st.requests[st.core.ByID(id)]; r != nil {
			open, ours, given = true, r.carried, r.arguments
		}
	})
	if ours && part == journal.Arguments {
		return journal.PieceOf(given, offset, limit), nil
	}
	p, err := h.kept.Read(id, part, offset, limit)
	if err != nil && open {
		return p, event.Fail(event.CodeFailedPrecondition, event.ReasonRequestOpen, []string{"request_id", id},
			"request %q has not ended yet: read it then", id)
	}
	return p, err
}
