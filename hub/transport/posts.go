package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

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

// enqueue queues a message that gets no answer. Notifications are posted one after the other. Up to
// bounds.AnswersPosted responses are posted at the same time, and wait for no notification: a server that is slow to
// accept those must still get the answers to its own requests. Called with mu held.
func (e *exchanges) enqueue(m Message) {
	q := queued{m: m, binding: e.st.binding, session: e.st.session}
	if m.Method == "" {
		e.answer(q)
		return
	}
	if len(e.st.queue) >= maxQueued {
		e.log.Warn("the server takes no messages, one was dropped", "method", m.Method)
		return
	}
	if m.Method == "notifications/initialized" && !q.modern {
		q.gate = make(chan struct{})
		e.st.gate = q.gate
	}
	e.st.queue = append(e.st.queue, q)
	if !e.st.posting {
		e.st.posting = true
		e.work.Go(e.postQueued)
	}
}

// answer is enqueue for a response.
func (e *exchanges) answer(q queued) {
	switch {
	case e.st.answering < bounds.AnswersPosted:
		e.st.answering++
		e.work.Go(func() { e.postAnswers(q) })
	case isPong(q.m.Body):
		// A pong only says that the hub is alive. The answers that the server does not take say the same.
		if e.st.pings++; e.st.pings&(e.st.pings-1) == 0 {
			e.log.Warn("pings are not answered, because the server takes no answers", "dropped", e.st.pings)
		}
	case len(e.st.answers) >= maxQueued:
		e.log.Warn("the server takes no messages, an answer was dropped")
	default:
		e.st.answers = append(e.st.answers, q)
	}
}

// isPong reports whether body is the response to a ping: the only one of a client with an empty result.
func isPong(body []byte) bool { return bytes.HasSuffix(body, []byte(`"result":{}}`)) }

// postAnswers posts q, and then the responses that wait, until there are none.
func (e *exchanges) postAnswers(q queued) {
	for {
		e.logLost(&q.m, e.post(&q.m, q.binding, q.session, postTimeout))
		e.mu.Lock()
		if len(e.st.answers) == 0 {
			e.st.answers = nil
			e.st.answering--
			e.mu.Unlock()
			return
		}
		q = e.st.answers[0]
		e.st.answers[0] = queued{}
		e.st.answers = e.st.answers[1:]
		e.mu.Unlock()
	}
}

// postQueued posts the queued notifications, one after the other, until there are none.
func (e *exchanges) postQueued() {
	for {
		e.mu.Lock()
		if len(e.st.queue) == 0 {
			e.st.queue, e.st.posting = nil, false
			e.mu.Unlock()
			return
		}
		q := e.st.queue[0]
		e.st.queue[0] = queued{}
		e.st.queue = e.st.queue[1:]
		e.mu.Unlock()
		e.postOne(q)
	}
}

func (e *exchanges) postOne(q queued) {
	if q.gate == nil {
		e.logLost(&q.m, e.post(&q.m, q.binding, q.session, postTimeout))
		return
	}
	var once sync.Once
	open := func() { once.Do(func() { close(q.gate) }) }
	defer open()
	t := time.AfterFunc(initializedTimeout, open)
	defer t.Stop()
	if failed := e.post(&q.m, q.binding, q.session, postTimeout); failed != nil {
		e.logLost(&q.m, failed)
		return
	}
	e.kind.initialized(q)
}

func (e *exchanges) logLost(m *Message, httpErr *HTTPError) {
	if httpErr != nil && e.ctx.Err() == nil {
		e.log.Warn("a message was not delivered", "method", m.Method, "status", httpErr.Status)
	}
}

// post posts a message that gets no answer, and returns nil if the server has accepted it. limit is the server's time;
// the time in which a person signs in does not count.
func (e *exchanges) post(m *Message, b binding, session string, limit time.Duration) *HTTPError {
	return e.postOn(false, m, b, session, limit)
}

// postOn is post; with alone, on a connection of its own.
func (e *exchanges) postOn(alone bool, m *Message, b binding, session string, limit time.Duration) *HTTPError {
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
