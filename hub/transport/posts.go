package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
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

// postQueue holds what waits to be posted while as many goroutines as may post it are doing so.
type postQueue struct {
	waiting       []queued
	posting, most int
}

// enqueue queues a message that gets no answer. Notifications are posted one after the other. Up to
// bounds.AnswersPosted responses are posted at the same time, and wait for no notification: a server that is slow to
// accept those must still get the answers to its own requests. Called with mu held.
func (e *exchanges) enqueue(m Message) {
	q, to := queued{m: m, binding: e.st.binding, session: e.st.session}, &e.st.notices
	if m.Method == "" {
		to = &e.st.answers
	}
	busy := to.posting == to.most
	switch {
	case busy && isPong(m):
		// A pong only says that the hub is alive. The answers that the server does not take say the same.
		if e.st.pings++; e.st.pings&(e.st.pings-1) == 0 {
			e.log.Warn("pings are not answered, because the server takes no answers", "dropped", e.st.pings)
		}
		return
	case busy && len(to.waiting) >= maxQueued:
		e.log.Warn("the server takes no messages, one was dropped", "method", m.Method)
		return
	case m.Method == "notifications/initialized" && !q.modern:
		q.gate = make(chan struct{})
		e.st.gate = q.gate
	}
	if busy {
		to.waiting = append(to.waiting, q)
		return
	}
	to.posting++
	e.work.Go(func() { e.postAll(to, q) })
}

// isPong reports whether m is the response to a ping: the only one of a client with an empty result.
func isPong(m Message) bool { return m.Method == "" && bytes.HasSuffix(m.Body, []byte(`"result":{}}`)) }

// postAll posts q, and then what waits in the queue of it, until there is nothing.
func (e *exchanges) postAll(of *postQueue, q queued) {
	for {
		e.postOne(q)
		e.mu.Lock()
		if len(of.waiting) == 0 {
			of.waiting = nil
			of.posting--
			e.mu.Unlock()
			return
		}
		q = of.waiting[0]
		of.waiting[0] = queued{}
		of.waiting = of.waiting[1:]
		e.mu.Unlock()
	}
}

func (e *exchanges) postOne(q queued) {
	if q.gate != nil {
		open := sync.OnceFunc(func() { close(q.gate) })
		defer open()
		t := time.AfterFunc(initializedTimeout, open)
		defer t.Stop()
	}
	switch failed := e.post(&q.m, q.binding, q.session, postTimeout, false); {
	case failed != nil && e.ctx.Err() == nil:
		e.log.Warn("a message was not delivered", "method", q.m.Method, "status", failed.Status)
	case failed == nil && q.gate != nil:
		e.kind.initialized(q)
	}
}

// post posts a message that gets no answer, with alone on a connection of its own, and returns nil if the server has
// accepted it. limit is the server's time; the time in which a person signs in does not count.
func (e *exchanges) post(m *Message, b binding, session string, limit time.Duration, alone bool) *HTTPError {
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
