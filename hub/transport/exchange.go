package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// ErrCancelNotNeeded is what CancelAndAbort tells when the server cannot know the request, or has answered it: no cancellation was sent.
var ErrCancelNotNeeded = errors.New("the request had not been sent, or was answered: no cancellation was needed")

// cancelTimeout bounds the POST of a cancellation; after it the stream is closed all the same.
const cancelTimeout = 5 * time.Second

// exchange is one request on its way: a POST, and for legacy whatever resumes it. Its goroutine runs run.
type exchange struct {
	binding
	m       Message
	gate    <-chan struct{} // to wait for before anything is sent; nil for none
	session string          // of the exchange's goroutine

	ctx    context.Context
	cancel context.CancelCauseFunc
	wire   handover
	note   []byte // the cancellation, for run to post when the request slipped out; written before wire says dropped
}

// handover is how far a request has gone. It decides whether the server can know it, so the moment at which the HTTP client has a connection
// for it and the moment of a cancellation are taken against each other.
type handover struct{ at atomic.Int32 }

const (
	notHanded  = iota // no byte has left
	handedOver        // the HTTP client writes it, or has written it: the server may know it
	cancelled         // handedOver, and a cancellation is on its way
	dropped           // aborted: nothing comes in any more
	slipped           // dropped, and yet it got a connection in the same instant: the server may know it
)

// hand is called before the first byte leaves. The HTTP client may do so twice, when it found a dead connection.
func (h *handover) hand() {
	if !h.at.CompareAndSwap(notHanded, handedOver) {
		h.at.CompareAndSwap(dropped, slipped)
	}
}

// refused: the server has said that it did nothing with the request.
func (h *handover) refused() { h.at.CompareAndSwap(handedOver, notHanded) }

// cancel tells whether the server has to hear of the cancellation. If it need not, the request is dropped.
func (h *handover) cancel() (tell, first bool) {
	switch {
	case h.at.CompareAndSwap(notHanded, dropped):
		return false, true
	case h.at.CompareAndSwap(handedOver, cancelled):
		return true, true
	}
	return false, false
}

func (h *handover) drop() {
	if h.at.Load() != slipped {
		h.at.Store(dropped)
	}
}

func (h *handover) gone() bool      { return h.at.Load() >= dropped }
func (h *handover) slipped() bool   { return h.at.Load() == slipped }
func (h *handover) handed() bool    { return h.at.Load() != notHanded }
func (h *handover) cancelled() bool { return h.at.Load() == cancelled }
func (h *handover) over() bool      { return h.at.Load() >= cancelled }

func (ex *exchange) abort(cause error) {
	ex.wire.drop()
	ex.cancel(cause)
}

// failure is an end without an answer for a reason below HTTP.
func (ex *exchange) failure(text string, err error) *HTTPError {
	d := NotSent
	if ex.wire.handed() {
		d = MayHaveRun
	}
	return &HTTPError{Text: text, Delivery: d, Err: err}
}

// run is the goroutine of an exchange.
func (s *Streamable) run(ex *exchange) {
	defer ex.cancel(errExchangeOver)
	if ex.gate != nil {
		select {
		case <-ex.gate:
		case <-ex.ctx.Done():
			return
		}
	}
	failed := s.converse(ex)
	if ex.wire.slipped() && ex.note != nil {
		s.postCancel(ex.binding, ex.session, ex.note)
		return
	}
	switch {
	case failed == nil || ex.ctx.Err() != nil:
		// The answer is on its way to Receive; or whoever ended ctx tells the rest.
	case ex.wire.cancelled():
		s.take(ex) // nobody waits for it any more
	default:
		s.deliver(ex.ctx, item{Received: Received{Failed: ex.m.ID, Err: failed}, ex: ex, final: true})
	}
}

// converse sends the request and delivers what comes, to the answer. nil: the answer was delivered, or the transport has
// ended.
func (s *Streamable) converse(ex *exchange) *HTTPError {
	resp, err := s.send(ex.ctx, &outgoing{method: http.MethodPost, header: ex.binding.header(s, ex.session, &ex.m), body: ex.m.Body, wire: &ex.wire})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return s.refused(ex, resp)
	}
	if ex.m.Method == "initialize" && !ex.modern {
		if err := s.begin(ex, resp); err != nil {
			return err
		}
	}
	if err := foreignEncoding(resp); err != nil {
		return err
	}
	switch mediaType(resp.Header) {
	case "application/json":
		return s.readJSON(ex, resp)
	case "text/event-stream":
		return s.follow(ex, resp.Body)
	}
	return unexpected(resp, MayHaveRun)
}

// begin keeps the session id of the answer to initialize.
func (s *Streamable) begin(ex *exchange, resp *http.Response) *HTTPError {
	session := resp.Header.Get("Mcp-Session-Id")
	for _, c := range []byte(session) {
		if c < 0x21 || c > 0x7e { // 2025-11-25 basic/transports "Session Management"
			return &HTTPError{Status: resp.StatusCode, Text: "the session id of the server is not visible ASCII", Delivery: MayHaveRun}
		}
	}
	ex.session = session // for its own stream, should that have to be resumed
	s.mu.Lock()
	if s.st.why != ErrSessionExpired {
		s.st.session = session
	}
	s.mu.Unlock()
	return nil
}

// readJSON delivers a JSON body.
func (s *Streamable) readJSON(ex *exchange, resp *http.Response) *HTTPError {
	body, err := readBody(resp, s.max)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return &HTTPError{Status: resp.StatusCode, Text: "the answer is empty", Delivery: MayHaveRun}
	}
	if s.bring(ex, body) {
		return nil
	}
	return &HTTPError{Status: resp.StatusCode, Text: "the body is not the answer to this request: " + excerpt(body), Delivery: MayHaveRun}
}

// bring delivers a message that came for ex, and tells whether it was the answer. Arrays of messages exist in 2025-03-26 alone.
func (s *Streamable) bring(ex *exchange, body []byte) bool {
	r, answered := answerTo(ex.m.ID, body, !ex.modern && ex.revision == "2025-03-26")
	s.deliver(ex.ctx, item{Received: r, ex: ex, final: answered})
	return answered
}

// refused reads what stands behind a status that is no success. Statuses with two meanings are told apart by the body
// (2026-07-28 basic/transports/streamable-http "Sending Messages"; 404 is an unknown method there and an expired session before).
func (s *Streamable) refused(ex *exchange, resp *http.Response) *HTTPError {
	body, failed := readRefusal(resp)
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return failed
	}
	m, isError := errorIn(body)
	if ex.session != "" && !ex.modern && resp.StatusCode == http.StatusNotFound && !(isError && m.aboutMethod()) {
		s.end(ErrSessionExpired, ex)
		return failed
	}
	if answer, ok := answerTo(ex.m.ID, body, false); ok {
		s.deliver(ex.ctx, item{Received: answer, ex: ex, final: true})
		return nil
	}
	return failed
}

// CancelAndAbort is the cancellation of the legacy era: it posts notification, and closes the request's exchange when that was answered, or
// after 5 s, and does not resume it (2025-11-25 basic/transports "Sending Messages to the Server": a disconnect alone is no cancellation). What
// comes for the request meanwhile is received. A request that the server cannot have seen is aborted without a word; for the modern era
// CancelAndAbort is Abort. It does not block; an unknown id and a second call do nothing.
//
// told is called exactly once, from any goroutine and without a lock: with nil when the server has acknowledged the cancellation, with
// ErrCancelNotNeeded when none was sent, else with why it did not get there.
func (s *Streamable) CancelAndAbort(id string, notification []byte, told func(error)) {
	s.mu.Lock()
	ex := s.st.open[id]
	if why := s.st.why; ex == nil || why != nil {
		s.mu.Unlock()
		if why == nil {
			why = ErrCancelNotNeeded // the answer has come in the meantime
		}
		told(why)
		return
	}
	if ex.modern {
		delete(s.st.open, id)
		s.mu.Unlock()
		ex.abort(errAborted)
		told(nil)
		return
	}
	if ex.note == nil {
		ex.note = notification
	}
	tell, first := ex.wire.cancel()
	switch {
	case tell:
		b, session := s.st.binding, s.st.session
		s.st.telling++
		s.work.Go(func() {
			s.postCancel(b, session, notification)
			told(nil)
			s.mu.Lock()
			if s.st.telling--; s.st.telling == 0 && s.st.told != nil {
				close(s.st.told)
				s.st.told = nil
			}
			s.mu.Unlock()
			if s.take(ex) {
				ex.abort(errAborted)
			}
		})
	case first:
		delete(s.st.open, id)
	}
	s.mu.Unlock()
	if tell {
		return
	}
	if first {
		ex.cancel(errAborted)
	}
	told(ErrCancelNotNeeded)
}

func (s *Streamable) postCancel(b binding, session string, notification []byte) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, cancelTimeout, errors.New("the cancellation was not answered in time"))
	defer cancel()
	s.post(ctx, &Message{Method: "notifications/cancelled", Body: notification}, b, session)
}

// foreignEncoding: gzip is undone by the HTTP client, and nothing else was offered.
func foreignEncoding(resp *http.Response) *HTTPError {
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" && !resp.Uncompressed {
		return &HTTPError{Status: resp.StatusCode, Text: fmt.Sprintf("the answer has an encoding that was not asked for: %s", excerpt([]byte(e))), Delivery: MayHaveRun}
	}
	return nil
}
