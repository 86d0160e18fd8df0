package transport

import (
	"context"
	"net/http"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

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
