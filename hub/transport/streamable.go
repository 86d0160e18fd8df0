package transport

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Streamable is the Streamable HTTP transport of both eras: legacy (2025-03-26 to 2025-11-25 basic/transports
// "Streamable HTTP") and modern (2026-07-28 basic/transports/streamable-http). Each request is one exchange, a POST
// with a goroutine of its own. Receive returns the messages of all exchanges. The methods may be called from any
// goroutine, Receive from one at a time.
type Streamable struct {
	exchanges
	accepted chan struct{} // has an element if a request was accepted since listen looked
}

// NewStreamable returns a transport, which sends nothing before Send. If the URL cannot be used, each request fails.
func NewStreamable(o HTTPOptions) *Streamable {
	s := &Streamable{accepted: make(chan struct{}, 1)}
	s.begin(o, s)
	return s
}

func (s *Streamable) address() *url.URL { return s.url }

func (s *Streamable) strayCancel() bool { return false }

// converse implements dialect. It posts the request and delivers the messages up to the answer. It returns nil if the
// answer was delivered or the transport has ended.
func (s *Streamable) converse(ex *exchange) *HTTPError {
	resp, err := s.postRequest(ex)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return s.refused(ex, resp)
	}
	select {
	case s.accepted <- struct{}{}:
	default:
	}
	if ex.m.Method == "initialize" && !ex.modern {
		if err := s.beginSession(ex, resp); err != nil {
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

// beginSession keeps the session id of the answer to initialize.
func (s *Streamable) beginSession(ex *exchange, resp *http.Response) *HTTPError {
	session := resp.Header.Get("Mcp-Session-Id")
	if len(session) > bounds.SessionIDBytes {
		return bad(resp, "the session id of the server is longer than "+bounds.Bytes(bounds.SessionIDBytes))
	}
	for _, c := range []byte(session) {
		if c < 0x21 || c > 0x7e { // 2025-11-25 basic/transports "Session Management"
			return bad(resp, "the session id of the server is not visible ASCII")
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
	hold := s.held.Hold()
	body, err := readBody(resp, s.max, hold)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return bad(resp, "the answer is empty")
	}
	if s.bring(ex, body, hold) {
		return nil
	}
	return bad(resp, "the body is not the answer to this request: "+excerpt(body))
}

// bring delivers a message that came for ex, and reports whether it was the answer. Only 2025-03-26 has arrays of
// messages.
func (s *Streamable) bring(ex *exchange, body []byte, hold *bounds.Hold) bool {
	r, answered := answerTo(ex.m.ID, body, !ex.modern && ex.revision == "2025-03-26")
	r.Hold = hold
	s.bringOne(ex, r, answered)
	return answered
}

func (s *Streamable) bringOne(ex *exchange, r Received, final bool) {
	if final {
		ex.step(ExchangeEvent{What: EvAnswered})
	}
	s.deliver(ex.ctx, item{Received: r, ex: ex, final: final})
}

// bad returns the error for a successful response that cannot be used.
func bad(resp *http.Response, text string) *HTTPError {
	return &HTTPError{Status: resp.StatusCode, Text: text, Delivery: MayHaveRun}
}

// foreignEncoding returns an error if the body has an encoding that was not offered. The HTTP client offers only gzip,
// and decodes it.
func foreignEncoding(resp *http.Response) *HTTPError {
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" && !resp.Uncompressed {
		return bad(resp, "the answer has an encoding that was not asked for: "+excerpt([]byte(e)))
	}
	return nil
}

const (
	// checkTimeout bounds the ping that checks whether a session is alive.
	checkTimeout = 5 * time.Second
	// deleteTimeout bounds the DELETE of a legacy session.
	deleteTimeout = 2 * time.Second
	// checkID is never the id of another request, since those are numbers.
	checkID = `"mcphub-session-check"`
)

// refused handles an answer to ex whose status is no success. If a status has two meanings, the body tells them apart
// (2026-07-28 basic/transports/streamable-http "Sending Messages"; a 404 means an unknown method there, and an expired
// session in earlier revisions). A 400 of a legacy server is examined with a ping: the specification demands 404 for a
// session that the server does not know, but many servers answer 400.
func (s *Streamable) refused(ex *exchange, resp *http.Response) *HTTPError {
	body, failed := readRefusal(resp)
	if noRight(resp.StatusCode) {
		return failed
	}
	answer, isAnswer := answerTo(ex.m.ID, body, false)
	named := isAnswer && answer.Kind != jsontext.Invalid // by its own id: then it is not about the session
	over := func() bool { return s.sessionOver(ex.ctx, resp.StatusCode, body, ex.binding, ex.session) }
	if !ex.modern && !named && s.whileAsking(ex, over) {
		s.end(ErrSessionExpired, s.metBy(ex, resp)) // the first call of end reports all open requests, ex among them
		return nil
	}
	if ex.ctx.Err() != nil {
		return nil
	}
	if isAnswer {
		s.bringOne(ex, answer, true)
		return nil
	}
	return failed
}

// whileAsking calls ask, and marks ex meanwhile (exchange.asks): another request may find out first that the session is
// over.
func (s *Streamable) whileAsking(ex *exchange, ask func() bool) bool {
	mark := func(on bool) {
		s.mu.Lock()
		ex.asks = on
		s.mu.Unlock()
	}
	mark(true)
	over := ask()
	if !over {
		mark(false)
	}
	return over
}

// unposted implements dialect.
func (s *Streamable) unposted(resp *http.Response, b binding, session string) *HTTPError {
	body, failed := readRefusal(resp)
	_ = resp.Body.Close()
	if !b.modern && s.sessionOver(s.ctx, resp.StatusCode, body, b, session) {
		s.end(ErrSessionExpired, nil)
	}
	return failed
}

// sessionOver reports whether the server has refused a message because it does not know the session any more
// (2025-11-25 basic/transports "Session Management"): with 404, unless that is about the method, or with 400. A 400 can
// mean anything, so a ping confirms it.
func (s *Streamable) sessionOver(ctx context.Context, status int, body []byte, b binding, session string) bool {
	if session == "" {
		return false
	}
	m, isError := errorIn(body)
	switch status {
	case http.StatusNotFound:
		return !(isError && m.aboutMethod())
	case http.StatusBadRequest:
		return s.refusesPing(ctx, b, session)
	}
	return false
}

// sessionCheck is a ping that is under way. Concurrent callers of refusesPing share it.
type sessionCheck struct {
	done chan struct{}
	over bool // written before done is closed
}

// refusesPing reports whether the server refuses a ping because it does not know the session. Only a plain refusal
// means that. At most one ping is under way at a time, for at most checkTimeout.
func (s *Streamable) refusesPing(ctx context.Context, b binding, session string) bool {
	s.mu.Lock()
	if s.st.why != nil {
		s.mu.Unlock()
		return false
	}
	c := s.st.check
	if c == nil {
		c = &sessionCheck{done: make(chan struct{})}
		s.st.check = c
		s.work.Go(func() {
			c.over = s.ping(b, session)
			s.mu.Lock()
			s.st.check = nil
			s.mu.Unlock()
			close(c.done)
		})
	}
	s.mu.Unlock()
	select {
	case <-c.done:
		return c.over
	case <-ctx.Done():
		return false
	}
}

// ping reports whether the server refuses a ping as it refused a request.
func (s *Streamable) ping(b binding, session string) (refused bool) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, checkTimeout, errCheckTimeout)
	defer cancel()
	m := &Message{ID: checkID, Method: "ping", Body: []byte(`{"jsonrpc":"2.0","id":` + checkID + `,"method":"ping"}`)}
	resp, failed := s.send(ctx, &outgoing{
		method: http.MethodPost, header: s.posted(b, session, m), body: m.Body, rpc: m.Method,
	})
	if failed != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusNotFound {
		return false
	}
	body, _ := readRefusal(resp)
	answer, isAnswer := answerTo(checkID, body, false)
	return !isAnswer || answer.Kind == jsontext.Invalid // an answer with the ping's id: the session is known
}

var errCheckTimeout = errors.New("the server did not answer a ping in time")

// Close sends the cancellations that are on their way, for a second at most, aborts all requests, and waits for every
// goroutine. Then it ends a legacy session with DELETE (2025-11-25 basic/transports "Session Management"), which takes
// at most 2 s. Receive returns ErrHTTPClosed from then on. Calls after the first wait for the first. Close always
// returns nil.
func (s *Streamable) Close() error {
	s.close(s.deleteSession)
	return nil
}

// deleteSession ends the session on the server. Nothing of the session is sent after it.
func (s *Streamable) deleteSession() {
	s.mu.Lock()
	session, b := s.st.session, s.st.binding
	s.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), deleteTimeout,
		errors.New("the end of the session was not answered in time"))
	defer cancel()
	header := s.header.Clone()
	b.set(header, session)
	resp, failed := s.send(ctx, &outgoing{method: http.MethodDelete, header: header, rpc: http.MethodDelete})
	if failed != nil {
		s.log.Debug("the session was not deleted")
		return
	}
	discard(resp.Body)
}
