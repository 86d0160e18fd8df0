package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

const (
	// defaultRetry is the pause before a stream is opened again, where the server names none.
	defaultRetry = time.Second
	// minRetry keeps a server that names 0 from being asked without a pause.
	minRetry = 10 * time.Millisecond
	maxRetry = 30 * time.Second
	// maxBroken is how many attempts in a row may fail, and maxEmpty how many may bring nothing, before a request is given
	// up.
	maxBroken = 5
	maxEmpty  = 20
	// livedLong is how long a stream has to be open so that it does not count as a failed attempt although it brought
	// nothing: tools can be slow.
	livedLong = 10 * time.Second
	// afterAnswer is how long a stream may stay open behind the answer. Reading its end keeps an HTTP/1.1 connection
	// usable.
	afterAnswer = time.Second
)

// place is the position in an event stream from which it can be resumed (2025-11-25 basic/transports "Resumability and
// Redelivery").
type place struct {
	lastID string // "" while there is nothing to resume from
	retry  time.Duration
	news   bool // the present stream has brought something
}

func (p *place) pass(ev event) {
	if ev.hasID {
		// An id that no header can carry is no place to come back to.
		if p.lastID = ev.id; !headerSafe(ev.id) {
			p.lastID = ""
		}
	}
	if ev.hasRetry {
		p.retry = max(ev.retry, minRetry)
	}
	p.news = p.news || ev.hasID || len(ev.data) > 0
}

// pauseAfter returns the pause before the next attempt: the server's retry, doubled with each attempt in vain.
func (p *place) pauseAfter(vain int) time.Duration {
	d := p.retry
	if d == 0 {
		d = defaultRetry
	}
	for ; vain > 0 && d < maxRetry; vain-- {
		d = min(2*d, maxRetry)
	}
	return d
}

// follow reads the event stream that answers ex, and resumes it where that is possible.
func (s *Streamable) follow(ex *exchange, body io.Reader) *HTTPError {
	var at place
	answered, err := s.readStream(ex, body, &at)
	switch {
	case answered || ex.ctx.Err() != nil:
		return nil
	case errors.As(err, new(*jsontext.TooLongError)):
		return ex.tooLong(err)
	case ex.modern || at.lastID == "" || ex.givenUp():
		// 2026-07-28 knows no resumption, and the request is not sent again: its tool may have run.
		return &HTTPError{Text: "the stream ended before the answer", Delivery: MayHaveRun, Err: broke(err)}
	}
	return s.resume(ex, &at)
}

// readStream delivers the messages of one stream of ex. If the answer did not come, err is how the stream ended.
func (s *Streamable) readStream(ex *exchange, body io.Reader, at *place) (answered bool, err error) {
	r := newEventReader(body, s.max, s.held)
	defer r.release()
	at.news = false
	for {
		ev, err := r.message(at)
		var long *jsontext.TooLongError
		switch {
		case errors.As(err, &long):
			if o := long.Outline(); !answered && o.Answers() && string(o.ID) == ex.m.ID {
				return false, long
			}
			s.deliver(ex.ctx, item{Received: Received{Err: long}, ex: ex})
		case err != nil:
			return answered, err
		case answered:
			s.deliver(ex.ctx, item{Received: Received{Body: ev.data, Stream: ex.m.ID, Hold: ev.hold}, ex: ex})
		default:
			if answered = s.bring(ex, ev.data, ev.hold); answered {
				t := time.AfterFunc(afterAnswer, func() { ex.cancel(errExchangeOver) })
				defer t.Stop()
			}
		}
	}
}

func (ex *exchange) tooLong(err error) *HTTPError {
	var long *jsontext.TooLongError
	errors.As(err, &long)
	if long.Err != nil {
		return noRoom(long.Err)
	}
	return &HTTPError{Text: fmt.Sprintf("the answer has %d bytes; maxMessageBytes allows %d", long.Size, long.Limit),
		Delivery: MayHaveRun, Err: ErrTooLong}
}

// broke returns nil if the stream was ended properly, else err.
func broke(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// resume opens the stream of a legacy request again that ended before the answer: a server may close the connection
// whenever it likes (2025-11-25 basic/transports "Sending Messages to the Server").
func (s *Streamable) resume(ex *exchange, at *place) *HTTPError {
	broken, empty := 0, 0
	for {
		if pause(ex.ctx, at.pauseAfter(max(broken, empty))) != nil || ex.givenUp() {
			return ex.failure("the stream ended before the answer", nil)
		}
		from := time.Now()
		resp, failed := s.openStream(ex.ctx, ex.binding.streamHeader(s.sender, ex.session, at.lastID))
		if failed != nil {
			final := failed.Status >= 400 && failed.Status <= 499 && failed.Status != http.StatusTooManyRequests ||
				failed.Status >= 200 && failed.Status <= 399
			if final {
				if s.sessionOver(ex.ctx, failed.Status, nil, ex.binding, ex.session) {
					s.end(ErrSessionExpired, nil)
					failed.Err = ErrSessionExpired // as for the other requests of the session, whichever is reported first
				}
				failed.Delivery = MayHaveRun
				failed.Text = "the stream ended before the answer and could not be resumed: " + failed.Text
				return failed
			}
			if broken++; broken == maxBroken {
				failed.Delivery = MayHaveRun
				failed.Text = fmt.Sprintf("the stream ended before the answer; %d attempts to resume it failed: %s", broken,
					failed.Text)
				return failed
			}
			continue
		}
		answered, err := s.readStream(ex, resp.Body, at)
		_ = resp.Body.Close()
		switch {
		case answered || ex.ctx.Err() != nil:
			return nil
		case errors.As(err, new(*jsontext.TooLongError)):
			return ex.tooLong(err)
		case at.news:
			broken, empty = 0, 0
		case time.Since(from) >= livedLong:
			broken = 0
		default:
			if empty++; empty == maxEmpty {
				return &HTTPError{Text: fmt.Sprintf(
					"the stream ended before the answer; %d streams that resumed it brought nothing", empty), Delivery: MayHaveRun,
					Err: broke(err)}
			}
		}
	}
}

// openStream opens an event stream with GET. Any other answer is an error, with its status.
func (e *exchanges) openStream(ctx context.Context, header http.Header) (*http.Response, *HTTPError) {
	resp, failed := e.send(ctx, &outgoing{method: http.MethodGet, header: header, rpc: http.MethodGet})
	if failed != nil {
		return nil, failed
	}
	if failed = isEventStream(resp); failed != nil {
		_ = resp.Body.Close()
		return nil, failed
	}
	return resp, nil
}

func isEventStream(resp *http.Response) *HTTPError {
	if resp.StatusCode != http.StatusOK {
		_, failed := readRefusal(resp)
		return failed
	}
	if kind := mediaType(resp.Header); kind != "text/event-stream" {
		if kind == "" {
			kind = "something without a type"
		}
		return &HTTPError{Status: resp.StatusCode, Text: "the server sent " + excerpt([]byte(kind)) +
			" in place of an event stream"}
	}
	return foreignEncoding(resp)
}

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
		at      place
		ever    bool      // it has been open
		over    bool      // the server does not know the session any more
		refused bool      // it wanted a sign-in, and the stream has not been open since
		lost    time.Time // since when the server cannot be reached; zero while it can
	)
	for vain := 0; ; {
		from := time.Now()
		resp, failed := s.openStream(s.ctx, b.streamHeader(s.sender, session, at.lastID))
		tried()
		if failed == nil {
			ever, over, refused = true, false, false
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
		case failed != nil && failed.Status == http.StatusUnauthorized && s.auth != nil && !refused:
			refused = true
			if !s.nextAccepted() {
				return
			}
			continue
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

// nextAccepted waits until the server accepts a request, and reports whether that came before the end of the transport.
// Nobody is to be asked to sign in for the standalone stream alone, and no authorization server to be asked over and
// over: whoever uses the server next signs in.
func (s *Streamable) nextAccepted() bool {
	select {
	case <-s.accepted: // before the refusal
	default:
	}
	select {
	case <-s.accepted:
		return true
	case <-s.ctx.Done():
		return false
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
