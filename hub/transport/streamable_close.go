package transport

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Close aborts everything, ends a legacy session with DELETE (2025-11-25 basic/transports "Session Management"), which takes at most 2 s, and
// waits for every goroutine. Receive then returns ErrHTTPClosed. Calls after the first wait for the first.
func (s *Streamable) Close() error {
	if !s.closing.CompareAndSwap(false, true) {
		<-s.closed
		return nil
	}
	defer close(s.closed)
	s.lastWords()
	s.end(ErrHTTPClosed, nil)
	s.work.Wait()
	s.deleteSession()
	if s.own != nil {
		s.own.close()
	}
	return nil
}

// lastWordsTime is how long Close waits for cancellations that are on their way. A server that hears them answers at once.
const lastWordsTime = time.Second

// lastWords lets the server hear of the requests that end with the transport: a disconnect alone tells a legacy server nothing.
func (s *Streamable) lastWords() {
	s.mu.Lock()
	if s.st.telling == 0 || s.st.why != nil {
		s.mu.Unlock()
		return
	}
	told := make(chan struct{})
	s.st.told = told
	s.mu.Unlock()
	late := time.NewTimer(lastWordsTime)
	defer late.Stop()
	select {
	case <-told:
	case <-late.C:
	case <-s.ended:
	}
}

// end is the one way to the end. After ErrSessionExpired Receive still tells what became of the open requests; met is
// the one that the server refused with the session, if it was one.
func (s *Streamable) end(why error, met *exchange) {
	s.mu.Lock()
	if s.st.why != nil {
		s.mu.Unlock()
		return
	}
	s.st.why = why
	s.st.queue = nil
	if why == ErrSessionExpired {
		s.st.session = "" // nothing is left to delete
		for _, ex := range s.st.open {
			failure := ex.failure("the server ended the session before the answer came", why)
			if ex == met {
				failure = &HTTPError{Status: http.StatusNotFound, Text: why.Error(), Delivery: NotSent, Err: why}
			}
			s.last = append(s.last, item{Received: Received{Failed: ex.m.ID, Err: failure}, ex: ex, final: true})
		}
	}
	s.mu.Unlock()
	s.stop(why)
	close(s.ended)
}

// deleteSession comes after everything else of the session.
func (s *Streamable) deleteSession() {
	s.mu.Lock()
	session, b := s.st.session, s.st.binding
	s.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), deleteTimeout, errors.New("the end of the session was not answered in time"))
	defer cancel()
	for range 2 {
		req := s.request(ctx, http.MethodDelete, s.url)
		b.set(req.Header, session)
		if s.auth != nil && s.auth.Sign(ctx, req) != nil {
			return
		}
		resp, err := s.rt.RoundTrip(req)
		if err != nil {
			s.log.Debug("the session was not deleted")
			return
		}
		again := observe(s.auth, req, resp)
		discard(resp.Body)
		if !again {
			return
		}
	}
}
