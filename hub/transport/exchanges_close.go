package transport

import (
	"net/http"
	"time"
)

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
	var orders []exchangeOrders
	for _, ex := range e.st.cancels {
		orders = append(orders, e.stepLocked(ex, exchangeEvent{what: evFarewell}))
	}
	var quiet chan struct{}
	if len(e.st.cancels) > 0 && e.st.why == nil {
		quiet = make(chan struct{})
		e.st.quiet = quiet
	}
	e.mu.Unlock()
	tellAll(orders)
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
	e.st.queue, e.st.answers = nil, nil
	if why == ErrSessionExpired {
		e.st.session = "" // nothing is left to delete
		for _, ex := range e.st.open {
			failure := &HTTPError{
				Text: "the server ended the session before the answer came", Delivery: MayHaveRun, Err: why, Sent: ex.state.sent,
			}
			switch {
			case met != nil && met.ex == ex:
				failure.Status, failure.Text, failure.Delivery = met.status, why.Error(), NotSent
			case ex.asks || !ex.state.reached():
				failure.Delivery = NotSent
			}
			e.st.last = append(e.st.last, item{Received: Received{FailedID: ex.m.ID, Err: failure}, ex: ex, final: true})
		}
	}
	var orders []exchangeOrders
	for _, ex := range e.st.cancels {
		orders = append(orders, e.stepLocked(ex, exchangeEvent{what: evEnd, err: why}))
	}
	e.mu.Unlock()
	e.stop(why)
	close(e.ended)
	tellAll(orders)
}

func tellAll(orders []exchangeOrders) {
	for _, do := range orders {
		if do.tell != nil {
			do.tell(do.err)
		}
	}
}

// metEnd is the request whose answer refused the session, and the status of that answer.
type metEnd struct {
	ex     *exchange
	status int
}

func (e *exchanges) metBy(ex *exchange, resp *http.Response) *metEnd {
	ex.step(exchangeEvent{what: evRefused})
	return &metEnd{ex, resp.StatusCode}
}
