package transport

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// initialized implements dialect. It opens the standalone stream, since the server may send messages of its own from
// now on.
func (s *Streamable) initialized(q queued) {
	listening := make(chan struct{})
	s.mu.Lock()
	if s.st.why == nil {
		s.work.Go(func() { s.listen(q.binding, q.session, listening) })
	} else {
		close(listening)
	}
	s.mu.Unlock()
	late := time.NewTimer(listenTimeout)
	defer late.Stop()
	select {
	case <-listening:
	case <-late.C:
	}
}

// listenTimeout is how long requests wait for the standalone stream to be open, so that a question that the first
// request causes can come on it. Some servers send no headers before they have a message.
const listenTimeout = 100 * time.Millisecond

// listen keeps the standalone stream open. That stream carries the requests and notifications that belong to no request
// of the hub, and with many servers the withdrawal of a question (2025-11-25 basic/transports "Listening for Messages
// from the Server"). listen returns when the transport ends, or if the server has no such stream. A 404 to the very
// first attempt means that it has none: servers without a route for GET answer so, and an expired session shows with
// the next message. opened is closed after the first attempt.
func (s *Streamable) listen(b binding, session string, opened chan<- struct{}) {
	var once sync.Once
	tried := func() { once.Do(func() { close(opened) }) }
	defer tried()
	var (
		at   place
		ever bool      // it has been open
		over bool      // the server does not know the session any more
		lost time.Time // since when the server cannot be reached; zero while it can
	)
	for vain := 0; ; {
		from := time.Now()
		resp, failed := s.openStream(s.ctx, b.streamHeader(s.sender, session, at.lastID))
		tried()
		if failed == nil {
			ever, over = true, false
			s.readStandalone(resp, &at)
		}
		switch {
		case failed == nil || failed.Status != 0:
			lost = time.Time{}
		case lost.IsZero():
			lost = from
		}
		switch {
		case s.ctx.Err() != nil:
			return
		case ever && !lost.IsZero() && time.Since(lost) >= lostAfter && !s.busy():
			s.end(ErrServerLost, nil)
			return
		case ever && failed != nil && s.sessionOver(s.ctx, failed.Status, nil, b, session):
			if over || !s.busy() {
				s.end(ErrSessionExpired, nil)
				return
			}
			over, vain = true, 0 // a request that is on its way hears of it, too, and then it has surely not run
		case failed != nil && noStream(failed.Status) && at.lastID != "":
			at.lastID = "" // perhaps the server only does not know the id
			vain++
		case failed != nil && noStream(failed.Status):
			if failed.Status != http.StatusMethodNotAllowed {
				s.log.Info("the server has no stream of its own", "status", failed.Status)
			}
			return
		case failed == nil && (at.news || time.Since(from) >= livedLong):
			vain = 0
		default:
			vain++
		}
		d := at.pauseAfter(max(0, vain-1))
		if failed != nil {
			d = max(d, min(failed.RetryAfter, maxRetryAfter))
		}
		if pause(s.ctx, d) != nil {
			return
		}
	}
}

// lostAfter is how long the standalone stream is tried in vain before the server counts as lost. It is longer than a
// restart of a server takes, and short enough that a person does not go on reading a question whose server is gone.
const lostAfter = 10 * time.Second

// busy reports whether there are requests whose end has not been received. A server that shuts down in order accepts no
// new connection, but still answers them.
func (s *Streamable) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.st.open) > 0
}

// noStream reports whether the status means that the server has no such stream. 429 and the like may be temporary.
func noStream(status int) bool {
	switch {
	case status == 0 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout:
		return false
	case status == http.StatusNotImplemented:
		return true
	}
	return status < 500
}

func (s *Streamable) readStandalone(resp *http.Response, at *place) {
	defer func() { _ = resp.Body.Close() }()
	r := newEventReader(resp.Body, s.max, s.held)
	defer r.release()
	at.news = false
	for {
		ev, err := r.message(at)
		if err != nil && !errors.As(err, new(*jsontext.TooLongError)) ||
			!s.deliver(s.ctx, item{Received: Received{Body: ev.data, Hold: ev.hold, Err: err}}) {
			return
		}
	}
}
