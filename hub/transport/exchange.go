package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"
)

// ErrCancelNotNeeded is the outcome of CancelAndAbort if the server cannot know the request, or has answered it: no
// cancellation was sent.
var ErrCancelNotNeeded = errors.New("the request had not been sent, or was answered: no cancellation was needed")

var (
	errAborted        = errors.New("the request was aborted")
	errExchangeOver   = errors.New("the exchange is over")
	errCancelledTwice = errors.New("the request is being cancelled already")
)

// onePiece is the longest body that net/http is given in one piece. With its head it fits into the buffer of a
// connection (4 KiB), so it is written at once, and a reader in between would cost a second write. A longer body goes
// through gatedBody, which knows to the byte how much has been handed over.
const onePiece = 2 << 10

// exchange is one request under way: a POST, and for legacy Streamable HTTP the GETs that resume its stream. Its
// goroutine runs exchanges.run.
type exchange struct {
	binding
	of      *exchanges
	m       Message
	gate    <-chan struct{} // to wait for before anything is sent; nil for none
	session string          // used by the exchange's goroutine only

	ctx    context.Context
	cancel context.CancelCauseFunc
	hooks  httptrace.ClientTrace

	// Guarded by exchanges.mu.
	state ExchangeState
	note  []byte      // the body of its notifications/cancelled
	told  func(error) // the callback of CancelAndAbort; nil once it was called
	asks  bool        // it was refused and a session check runs; if the session is over, it has not run
	conn  net.Conn    // its connection, if that carries nothing else; else nil
	timer *time.Timer
}

func (e *exchanges) newExchange(m Message) *exchange {
	ex := &exchange{of: e, m: m, binding: e.st.binding, gate: e.st.gate, session: e.st.session}
	ex.state = NewExchangeState(e.honoursTrace && len(m.Body) <= onePiece)
	ex.ctx, ex.cancel = context.WithCancelCause(e.ctx)
	return ex
}

// honoursTrace reports whether rt is known to honour httptrace.ClientTrace.
func honoursTrace(rt http.RoundTripper) bool {
	switch rt.(type) {
	case *http.Transport, *roundTripper:
		return true
	}
	return false
}

// step makes one transition, and does what it orders. It returns false if the HTTP client must not get more of the
// body.
func (ex *exchange) step(ev ExchangeEvent) (ok bool) {
	ex.of.mu.Lock()
	ok, got := ex.of.stepLocked(ex, ev)
	ex.of.mu.Unlock()
	got.tell()
	return ok
}

// outcome is that of a cancellation, if it is known; else told is nil.
type outcome struct {
	told func(error)
	err  error
}

// tell reports it. Called without a lock.
func (o outcome) tell() {
	if o.told != nil {
		o.told(o.err)
	}
}

// stepLocked is step without the report of the outcome. Called with mu held.
func (e *exchanges) stepLocked(ex *exchange, ev ExchangeEvent) (ok bool, got outcome) {
	do := ex.state.Step(ev)
	if do.Post && e.st.why != nil {
		do = ex.state.Step(ExchangeEvent{What: EvPosted, Err: e.st.why})
		do.Refuse = true
	}
	if do.Seal && ex.conn != nil {
		_ = ex.conn.Close() // with mu held: a wroteRequest that comes later is followed by a flush that fails
	}
	if do.Cut {
		// With mu held: if gotConn is called afterwards, it sees the abort, or the HTTP client sees the end of the context.
		ex.cancel(errAborted)
		if e.st.open[ex.m.ID] == ex {
			delete(e.st.open, ex.m.ID)
		}
	}
	if do.Wait > 0 {
		if ex.timer != nil {
			ex.timer.Stop()
		}
		ex.timer = time.AfterFunc(do.Wait, func() { ex.step(ExchangeEvent{What: EvClock, Now: time.Now()}) })
	}
	if do.Post {
		b, session, alone := e.st.binding, e.st.session, ex.state.blind && (ex.conn != nil || !ex.state.traced)
		e.work.Go(func() {
			err := e.postCancel(ex, b, session, alone)
			ex.step(ExchangeEvent{What: EvPosted, Err: err})
		})
	}
	e.noteCancel(ex)
	if do.Settled {
		got = outcome{ex.told, do.Err}
		ex.told = nil
	}
	return !do.Refuse, got
}

// noteCancel maintains st.cancels, the set of cancellations whose outcome has not been reported yet. Called with mu
// held.
func (e *exchanges) noteCancel(ex *exchange) {
	if ex.state.unsettled() {
		e.st.cancels[ex.m.ID] = ex
		return
	}
	if ex.timer != nil {
		ex.timer.Stop()
		ex.timer = nil
	}
	if e.st.cancels[ex.m.ID] != ex {
		return
	}
	delete(e.st.cancels, ex.m.ID)
	if len(e.st.cancels) == 0 && e.st.quiet != nil {
		close(e.st.quiet)
		e.st.quiet = nil
	}
}

// postCancel posts the notification, in a request of its own; with alone, also on a connection of its own.
func (e *exchanges) postCancel(ex *exchange, b binding, session string, alone bool) error {
	m := &Message{Method: methodCancelled, Body: ex.note}
	if failed := e.post(m, b, session, cancelTimeout, alone); failed != nil {
		return failed
	}
	return nil
}

// trace returns the hooks by which the HTTP client reports its progress.
func (ex *exchange) trace() *httptrace.ClientTrace {
	ex.hooks.GotConn = ex.gotConn
	ex.hooks.WroteRequest = ex.wroteRequest
	return &ex.hooks
}

// gotConn is called before the first byte is written, and again if that connection turns out to be dead. net/http
// writes to an HTTP/1.1 connection even if the request's context has ended by then, but a closed connection takes
// nothing. HTTP/2 looks at the context, and shares its connections.
func (ex *exchange) gotConn(info httptrace.GotConnInfo) {
	ex.of.mu.Lock()
	ex.conn = unshared(info.Conn)
	ex.of.stepLocked(ex, ExchangeEvent{What: EvConn, Owns: ex.conn != nil})
	ex.of.mu.Unlock()
}

// unshared returns the connection below TLS, whose Close does not wait; nil if it carries several requests at a time.
func unshared(conn net.Conn) net.Conn {
	t, ok := conn.(interface {
		ConnectionState() tls.ConnectionState
		NetConn() net.Conn
	})
	switch {
	case !ok:
		return conn
	case t.ConnectionState().NegotiatedProtocol == "h2":
		return nil
	}
	return t.NetConn()
}

func (ex *exchange) wroteRequest(info httptrace.WroteRequestInfo) {
	if info.Err == nil {
		ex.step(ExchangeEvent{What: EvWrote, Now: time.Now()})
	}
}

func (ex *exchange) back() bool { return ex.step(ExchangeEvent{What: EvBack}) }

// headers is called with the status of a final answer: not one after which the sender signs in, waits or is redirected,
// and sends the request again.
func (ex *exchange) headers(status int) {
	if status >= 300 && refusalDelivery(status) == NotSent {
		ex.step(ExchangeEvent{What: EvRefused})
		return
	}
	ex.step(ExchangeEvent{What: EvHeaders})
}

func (ex *exchange) givenUp() bool {
	ex.of.mu.Lock()
	defer ex.of.mu.Unlock()
	return ex.state.GivenUp()
}

func (ex *exchange) reached() bool {
	ex.of.mu.Lock()
	defer ex.of.mu.Unlock()
	return ex.state.Reached()
}

func (ex *exchange) body() io.ReadCloser {
	if ex.state.whole {
		return io.NopCloser(bytes.NewReader(ex.m.Body))
	}
	return &gatedBody{ex: ex, rest: ex.m.Body}
}

// bodyAgain is http.Request.GetBody. net/http calls it when the connection was dead, so that no server has read
// anything of the request.
func (ex *exchange) bodyAgain() (io.ReadCloser, error) {
	if !ex.back() {
		return nil, errAborted
	}
	return ex.body(), nil
}

// gatedBody is a body that hands its last byte to the HTTP client only if the request has not been aborted. So a
// request that is aborted earlier never arrives whole.
type gatedBody struct {
	ex   *exchange
	rest []byte
}

func (b *gatedBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	if len(p) < len(b.rest) {
		if b.ex.ctx.Err() != nil {
			return 0, errAborted
		}
		n := copy(p, b.rest)
		b.rest = b.rest[n:]
		return n, nil
	}
	if !b.ex.step(ExchangeEvent{What: EvLast, Now: time.Now()}) {
		return 0, errAborted
	}
	n := copy(p, b.rest)
	b.rest = nil
	return n, nil
}

func (b *gatedBody) Close() error { return nil }

// finish ends an exchange whose answer has come, after afterAnswer: reading the stream to its end keeps an HTTP/1.1
// connection usable.
func (ex *exchange) finish() {
	t := time.AfterFunc(afterAnswer, func() { ex.cancel(errExchangeOver) })
	context.AfterFunc(ex.ctx, func() { t.Stop() })
}

// failure returns the error for an end without an answer, for a reason below HTTP.
func (ex *exchange) failure(text string, err error) *HTTPError {
	d := NotSent
	if ex.reached() {
		d = MayHaveRun
	}
	return &HTTPError{Text: text, Delivery: d, Err: err}
}
