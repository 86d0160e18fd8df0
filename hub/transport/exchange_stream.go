package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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
