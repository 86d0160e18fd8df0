package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	defaultMaxMessageBytes = 64 << 20
	// receiveAhead is how many messages may wait for Receive before the streams that bring them are no longer read.
	receiveAhead = 64
)

// exchanges is the common part of Streamable HTTP and HTTP+SSE. Each message is a POST of its own. The POST of a
// request is an exchange, with a state and a goroutine. Incoming messages go through Receive, and cancellations are
// reported to their callbacks. Its methods may be called from any goroutine, Receive from one at a time.
type exchanges struct {
	*sender
	kind         dialect
	honoursTrace bool // see the function of this name
	max          int  // bytes of a message
	held         *bounds.Account

	ctx     context.Context // of all HTTP requests; ended by end
	stop    context.CancelCauseFunc
	out     chan item
	ended   chan struct{} // closed by end
	work    sync.WaitGroup
	closing atomic.Bool
	closed  chan struct{} // closed when the first Close returns

	mu sync.Mutex
	st exchangesState // guarded by mu
}

// dialect is the part in which the two transports differ.
type dialect interface {
	// address returns the URL that messages are posted to.
	address() *url.URL
	// posted returns the header of the POST of m.
	posted(b binding, session string, m *Message) http.Header
	// converse posts a request and delivers the messages that answer it. It returns nil if the end was delivered or comes
	// in another way, or if the transport has ended.
	converse(ex *exchange) *HTTPError
	// unposted is called if the server has refused a message that gets no answer. It closes resp.Body.
	unposted(resp *http.Response, b binding, session string) *HTTPError
	// initialized is called when the server has accepted notifications/initialized. Requests wait until it returns.
	initialized(q queued)
	// strayCancel reports whether a cancellation of a request that is not open here is posted.
	strayCancel() bool
}

// exchangesState is the part of a transport that changes.
type exchangesState struct {
	binding
	session string               // of legacy Streamable HTTP; "" without one. It is a secret.
	open    map[string]*exchange // by id: the requests whose end has not been received
	why     error                // set once, by end
	last    []item               // what Receive returns before why; filled by end, and by Send after that
	told    bool                 // Receive has returned why

	notices, answers postQueue     // notifications and responses
	pings            int           // responses to pings that were dropped
	gate             chan struct{} // closed when the server knows that it is initialized; nil: no need to wait yet

	cancels map[string]*exchange // by id: those whose cancellation has no reported outcome yet
	quiet   chan struct{}        // closed when cancels becomes empty; nil if nobody waits for that
	check   *sessionCheck        // of legacy Streamable HTTP; nil when none is under way
}

// binding is the era and revision by which a message is sent and its answer read.
type binding struct {
	modern   bool
	revision string // "" while initialize is open
}

// item is something for Receive.
type item struct {
	Received
	ex    *exchange // nil if it belongs to no exchange
	final bool      // the end of ex; received only if ex is still open
}

// begin initializes the zero value of e.
func (e *exchanges) begin(o HTTPOptions, kind dialect) {
	e.sender, e.kind, e.max, e.held = newSender(o), kind, o.MaxMessageBytes, o.Results
	if e.max <= 0 {
		e.max = defaultMaxMessageBytes
	}
	e.honoursTrace = honoursTrace(e.rt)
	e.out, e.ended, e.closed = make(chan item, receiveAhead), make(chan struct{}), make(chan struct{})
	e.st.open, e.st.cancels = map[string]*exchange{}, map[string]*exchange{}
	e.st.notices.most, e.st.answers.most = 1, bounds.AnswersPosted
	e.ctx, e.stop = context.WithCancelCause(context.Background())
}

// Speak sets the era and revision for what is sent from now on; revision is "" while initialize is open. What was sent
// before keeps those that it was sent with.
func (e *exchanges) Speak(modern bool, revision string) {
	e.mu.Lock()
	e.st.binding = binding{modern: modern, revision: revision}
	e.mu.Unlock()
}

// Send sends m and never blocks. Receive returns what becomes of a request: its messages, and exactly one end, which is
// an answer or FailedID. A notification or a response that cannot be delivered is logged. The ids of open requests must
// differ. An error is what Receive has ended with: m is not sent, and Receive reports nothing of it.
func (e *exchanges) Send(m Message) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.st.told:
		return e.st.why
	case e.st.why != nil:
		e.sendLate(m)
	case m.ID == "":
		e.enqueue(m)
	default:
		e.open(m)
	}
	return nil
}

// sendLate is Send after the end, before Receive has returned it. If the server has ended the session, a request is
// reported as not sent, so that the caller may send it on the next session. Called with mu held.
func (e *exchanges) sendLate(m Message) {
	if e.st.why != ErrSessionExpired || m.ID == "" {
		return
	}
	e.st.last = append(e.st.last, item{Received: Received{FailedID: m.ID,
		Err: &HTTPError{Text: e.st.why.Error(), Delivery: NotSent, Err: e.st.why}}})
}

// open begins the exchange of a request. Called with mu held.
func (e *exchanges) open(m Message) {
	if _, double := e.st.open[m.ID]; double {
		// Not reported by FailedID: that would be taken for the end of the first request.
		e.log.Error("a request with the id of an open one was not sent", "method", m.Method)
		return
	}
	ex := e.newExchange(m)
	e.st.open[m.ID] = ex
	e.work.Go(func() { e.run(ex) })
}

// run is the goroutine of an exchange.
func (e *exchanges) run(ex *exchange) {
	defer ex.cancel(errExchangeOver)
	defer ex.step(ExchangeEvent{What: EvReturned})
	if ex.gate != nil {
		select {
		case <-ex.gate:
		case <-ex.ctx.Done():
			return
		}
	}
	failed := e.kind.converse(ex)
	if failed == nil || ex.ctx.Err() != nil {
		return // the answer was passed to Receive, or whoever ended ctx reports the end
	}
	end := ExchangeEvent{What: EvFailed, Now: time.Now()}
	if failed.Delivery == NotSent {
		end.What = EvRefused
	}
	ex.step(end)
	e.mu.Lock()
	failed.Sent = ex.state.sent
	cancelled := ex.state.cancel != cancelNone
	e.mu.Unlock()
	if cancelled {
		e.take(ex) // nobody waits for it any more
		return
	}
	e.deliver(ex.ctx, item{Received: Received{FailedID: ex.m.ID, Err: failed}, ex: ex, final: true})
}

// postRequest posts the request of an exchange.
func (e *exchanges) postRequest(ex *exchange) (*http.Response, *HTTPError) {
	return e.send(ex.ctx, &outgoing{
		method: http.MethodPost, url: e.kind.address(), header: e.kind.posted(ex.binding, ex.session, &ex.m),
		body: ex.m.Body, rpc: ex.m.Method, ex: ex,
	})
}

// Receive returns what came next. An error is the end of the transport: ErrHTTPClosed at once, any other error after a
// FailedID for every open exchange.
func (e *exchanges) Receive() (Received, error) {
	for {
		var it item
		var err error
		select {
		case it = <-e.out:
		case <-e.ended:
			it, err = e.remaining()
		}
		if err != nil || e.admit(it) {
			return it.Received, err
		}
		it.Hold.Release()
	}
}

// remaining returns what is left for Receive after the end, or why the transport has ended. All goroutines that could
// deliver more have been stopped.
func (e *exchanges) remaining() (item, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.st.why != ErrHTTPClosed {
		select {
		case it := <-e.out:
			return it, nil
		default:
		}
		if len(e.st.last) > 0 {
			it := e.st.last[0]
			e.st.last = e.st.last[1:]
			return it, nil
		}
	}
	e.st.told = true
	return item{}, e.st.why
}

// admit reports whether Receive may return it: nothing of an aborted exchange, and only one end of each.
func (e *exchanges) admit(it item) bool {
	if it.ex == nil {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if it.final {
		return e.takeLocked(it.ex)
	}
	return !it.ex.state.Dropped()
}

// deliver passes it to Receive. It gives up, and returns false, when ctx ends, which is that of the exchange or of the
// transport.
func (e *exchanges) deliver(ctx context.Context, it item) bool {
	select {
	case e.out <- it:
		return true
	default:
	}
	select {
	case e.out <- it:
		return true
	case <-ctx.Done():
		it.Hold.Release()
		return false
	}
}

// forget drops the items that were not received. Nothing more is delivered.
func (e *exchanges) forget() {
	for {
		select {
		case it := <-e.out:
			it.Hold.Release()
		default:
			return
		}
	}
}

// take removes an exchange from the open ones. It returns true for one caller only, which reports the end of ex or
// keeps silent about it.
func (e *exchanges) take(ex *exchange) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.takeLocked(ex)
}

func (e *exchanges) takeLocked(ex *exchange) bool {
	if e.st.open[ex.m.ID] != ex {
		return false
	}
	delete(e.st.open, ex.m.ID)
	return true
}

// Abort closes the exchange of an open request, even while it waits for headers. Nothing of it is received any more. In
// the modern era that is the cancellation (2026-07-28 basic/patterns/cancellation "Transport-Specific Cancellation").
// written is false if the server cannot know the request.
func (e *exchanges) Abort(id string) (written bool) {
	e.mu.Lock()
	ex := e.st.open[id]
	if ex == nil {
		e.mu.Unlock()
		return false
	}
	e.stepLocked(ex, ExchangeEvent{What: EvAbort}) // an abort has no outcome to report
	written = ex.state.Reached()
	e.mu.Unlock()
	return written
}

// CancelAndAbort is the cancellation of the legacy era: it posts notification, and closes the request's exchange when
// that was answered, or after 5 s, and does not resume it (2025-11-25 basic/transports "Sending Messages to the
// Server": a disconnect alone is no cancellation). It does so once the headers of the request's answer have come, or a
// second after the last byte of the request was written, whichever is first: earlier the notification might overtake
// its request. Messages that come for the request meanwhile are received. A request whose body was not written to its
// end is aborted without a notification; for the modern era CancelAndAbort is Abort. It does not block.
//
// told is called exactly once, from any goroutine and without a lock. Its argument is nil if the server has
// acknowledged the notification, ErrCancelNotNeeded if none was needed, and otherwise the reason why the notification
// did not arrive. A notification that was sent before the headers came waits for up to a second more, to see what the
// server does with the request (ExchangeState.judge); the exchange stays open as long, however old the request is.
func (e *exchanges) CancelAndAbort(id string, notification []byte, told func(error)) {
	e.mu.Lock()
	ex, why := e.st.open[id], e.st.why
	var got outcome
	switch {
	case why != nil:
		got = outcome{told, why}
	case ex == nil && !e.kind.strayCancel():
		got = outcome{told, ErrCancelNotNeeded} // the answer has come in the meantime
	case ex != nil && ex.modern:
		e.stepLocked(ex, ExchangeEvent{What: EvAbort})
		if got.told = told; !ex.state.Reached() {
			got.err = ErrCancelNotNeeded
		}
	case ex != nil && ex.state.cancel != cancelNone:
		got = outcome{told, errCancelledTwice}
	default:
		if ex == nil {
			ex = e.newExchange(Message{ID: id})
			ex.state.stage = stageHeaders // its POST is over
		}
		if ex.note == nil {
			ex.note = notification
		}
		ex.told = told
		_, got = e.stepLocked(ex, ExchangeEvent{What: EvCancel, Now: time.Now()})
	}
	e.mu.Unlock()
	got.tell()
}

// lastWordsTime is how long Close waits for cancellations that are on their way. A server that hears them answers at
// once.
const lastWordsTime = time.Second

// close ends the transport and waits for every goroutine, and then calls after, for what comes last. Calls after the
// first wait for the first.
func (e *exchanges) close(after func()) {
	if !e.closing.CompareAndSwap(false, true) {
		<-e.closed
		return
	}
	defer close(e.closed)
	e.lastWords()
	e.end(ErrHTTPClosed, nil)
	e.work.Wait()
	e.forget()
	after()
	e.sender.close()
}

// lastWords posts the cancellations that wait for the headers of their calls, and waits up to lastWordsTime for the
// outcome of all: from a disconnect alone, a legacy server does not learn that its requests are cancelled.
func (e *exchanges) lastWords() {
	e.mu.Lock()
	var outcomes []outcome
	for _, ex := range e.st.cancels {
		_, got := e.stepLocked(ex, ExchangeEvent{What: EvClosing})
		outcomes = append(outcomes, got)
	}
	var quiet chan struct{}
	if len(e.st.cancels) > 0 && e.st.why == nil {
		quiet = make(chan struct{})
		e.st.quiet = quiet
	}
	e.mu.Unlock()
	tellAll(outcomes)
	if quiet == nil {
		return
	}
	late := time.NewTimer(lastWordsTime)
	defer late.Stop()
	select {
	case <-quiet:
	case <-late.C:
	case <-e.ended:
	}
}

// end ends the transport; nothing else does. After ErrSessionExpired, Receive still reports the end of each open
// request. met is the request whose answer refused the session, or nil if that was the answer to something else.
func (e *exchanges) end(why error, met *metEnd) {
	e.mu.Lock()
	if e.st.why != nil {
		e.mu.Unlock()
		return
	}
	e.st.why = why
	e.st.notices.waiting, e.st.answers.waiting = nil, nil
	if why == ErrSessionExpired {
		e.st.session = "" // nothing is left to delete
		for _, ex := range e.st.open {
			failure := &HTTPError{
				Text: "the server ended the session before the answer came", Delivery: MayHaveRun, Err: why, Sent: ex.state.sent,
			}
			switch {
			case met != nil && met.ex == ex:
				failure.Status, failure.Text, failure.Delivery = met.status, why.Error(), NotSent
			case ex.asks || !ex.state.Reached():
				failure.Delivery = NotSent
			}
			e.st.last = append(e.st.last, item{Received: Received{FailedID: ex.m.ID, Err: failure}, ex: ex, final: true})
		}
	}
	var outcomes []outcome
	for _, ex := range e.st.cancels {
		_, got := e.stepLocked(ex, ExchangeEvent{What: EvEnd, Err: why})
		outcomes = append(outcomes, got)
	}
	e.mu.Unlock()
	e.stop(why)
	close(e.ended)
	tellAll(outcomes)
}

func tellAll(outcomes []outcome) {
	for _, o := range outcomes {
		o.tell()
	}
}

// metEnd is the request whose answer refused the session, and the status of that answer.
type metEnd struct {
	ex     *exchange
	status int
}

func (e *exchanges) metBy(ex *exchange, resp *http.Response) *metEnd {
	ex.step(ExchangeEvent{What: EvRefused})
	return &metEnd{ex, resp.StatusCode}
}

const (
	// cancelTimeout bounds the POST of a cancellation; after it the request's stream is closed all the same.
	cancelTimeout = 5 * time.Second
	// postTimeout bounds the POST of a notification or a response, which a server has to answer at once.
	postTimeout = 30 * time.Second
	// initializedTimeout is how long requests wait for the answer to notifications/initialized.
	initializedTimeout = 5 * time.Second
	// maxQueued bounds how many messages are kept for a server that answers no POST.
	maxQueued = 1024
)

const methodCancelled = "notifications/cancelled"

// queued is a notification or a response that waits to be posted.
type queued struct {
	m Message
	binding
	session string
	gate    chan struct{} // of notifications/initialized; postOne closes it
}

// postQueue holds what waits to be posted while as many goroutines as may post it are doing so.
type postQueue struct {
	waiting       []queued
	posting, most int
}

// enqueue queues a message that gets no answer. Notifications are posted one after the other. Up to
// bounds.AnswersPosted responses are posted at the same time, and wait for no notification: a server that is slow to
// accept those must still get the answers to its own requests. Called with mu held.
func (e *exchanges) enqueue(m Message) {
	q, to := queued{m: m, binding: e.st.binding, session: e.st.session}, &e.st.notices
	if m.Method == "" {
		to = &e.st.answers
	}
	busy := to.posting == to.most
	switch {
	case busy && isPong(m):
		// A pong only says that the hub is alive. The answers that the server does not take say the same.
		if e.st.pings++; e.st.pings&(e.st.pings-1) == 0 {
			e.log.Warn("pings are not answered, because the server takes no answers", "dropped", e.st.pings)
		}
		return
	case busy && len(to.waiting) >= maxQueued:
		e.log.Warn("the server takes no messages, one was dropped", "method", m.Method)
		return
	case m.Method == "notifications/initialized" && !q.modern:
		q.gate = make(chan struct{})
		e.st.gate = q.gate
	}
	if busy {
		to.waiting = append(to.waiting, q)
		return
	}
	to.posting++
	e.work.Go(func() { e.postAll(to, q) })
}

// isPong reports whether m is the response to a ping: the only one of a client with an empty result.
func isPong(m Message) bool { return m.Method == "" && bytes.HasSuffix(m.Body, []byte(`"result":{}}`)) }

// postAll posts q, and then what waits in the queue of it, until there is nothing.
func (e *exchanges) postAll(of *postQueue, q queued) {
	for {
		e.postOne(q)
		e.mu.Lock()
		if len(of.waiting) == 0 {
			of.waiting = nil
			of.posting--
			e.mu.Unlock()
			return
		}
		q = of.waiting[0]
		of.waiting[0] = queued{}
		of.waiting = of.waiting[1:]
		e.mu.Unlock()
	}
}

func (e *exchanges) postOne(q queued) {
	if q.gate != nil {
		open := sync.OnceFunc(func() { close(q.gate) })
		defer open()
		t := time.AfterFunc(initializedTimeout, open)
		defer t.Stop()
	}
	switch failed := e.post(&q.m, q.binding, q.session, postTimeout, false); {
	case failed != nil && e.ctx.Err() == nil:
		e.log.Warn("a message was not delivered", "method", q.m.Method, "status", failed.Status)
	case failed == nil && q.gate != nil:
		e.kind.initialized(q)
	}
}

// post posts a message that gets no answer, with alone on a connection of its own, and returns nil if the server has
// accepted it. limit is the server's time; the time in which a person signs in does not count.
func (e *exchanges) post(m *Message, b binding, session string, limit time.Duration, alone bool) *HTTPError {
	ctx, cancel := context.WithCancelCause(e.ctx)
	defer cancel(errExchangeOver)
	clock := &postClock{limit: limit, Timer: time.AfterFunc(limit, func() {
		cancel(fmt.Errorf("the server did not answer within %s", limit))
	})}
	defer clock.stop()
	o := &outgoing{
		method: http.MethodPost, url: e.kind.address(), header: e.kind.posted(b, session, m),
		body: m.Body, rpc: m.Method, clock: clock, alone: alone,
	}
	if m.Method == methodCancelled {
		o.clock = nil // a cancellation is of no use later
	}
	resp, failed := e.send(ctx, o)
	switch {
	case failed != nil:
		return failed
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return e.kind.unposted(resp, b, session)
	}
	drain(resp, cancel)
	return nil
}

// drainLimit limits the time for reading the rest of a successful response, which only serves to reuse its connection.
const drainLimit = time.Second

// drain ends a successful response. An event stream in it is not read, since it brings nothing here and may never end.
func drain(resp *http.Response, cancel context.CancelCauseFunc) {
	if mediaType(resp.Header) == "text/event-stream" {
		_ = resp.Body.Close()
		return
	}
	t := time.AfterFunc(drainLimit, func() { cancel(errDrained) })
	discard(resp.Body)
	t.Stop()
}

var errDrained = errors.New("the end of an answer that nobody needs did not come")
