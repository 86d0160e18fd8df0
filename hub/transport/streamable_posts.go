package transport

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// postTimeout bounds the POST of a notification or a response, which a server has to answer at once.
	postTimeout = 30 * time.Second
	// initializedTimeout is how long requests wait for the answer to notifications/initialized.
	initializedTimeout = 5 * time.Second
	// listenTimeout is how long they then wait for the standalone stream to be open, so that a question that the first of them
	// causes finds it. Some servers send no headers before there is something to say.
	listenTimeout = 100 * time.Millisecond
	// maxQueued bounds what a server that answers no POST can make us keep.
	maxQueued = 1024
)

// queued is a notification or a response that waits for its turn.
type queued struct {
	m Message
	binding
	session string
	gate    chan struct{} // of notifications/initialized: to be closed once the server knows
}

// enqueue is called with mu held.
func (s *Streamable) enqueue(m Message) {
	if len(s.st.queue) >= maxQueued {
		s.log.Warn("the server takes no messages, one was dropped", "method", m.Method)
		return
	}
	q := queued{m: m, binding: s.st.binding, session: s.st.session}
	if m.Method == "notifications/initialized" && !q.modern {
		q.gate = make(chan struct{})
		s.st.gate = q.gate
	}
	s.st.queue = append(s.st.queue, q)
	if !s.st.posting {
		s.st.posting = true
		s.work.Go(s.postQueued)
	}
}

// postQueued posts what is queued, one after the other, and ends when nothing is left.
func (s *Streamable) postQueued() {
	for {
		s.mu.Lock()
		if len(s.st.queue) == 0 {
			s.st.queue, s.st.posting = nil, false
			s.mu.Unlock()
			return
		}
		q := s.st.queue[0]
		s.st.queue[0] = queued{}
		s.st.queue = s.st.queue[1:]
		s.mu.Unlock()
		s.postOne(q)
	}
}

func (s *Streamable) postOne(q queued) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, postTimeout, errors.New("the server did not answer in time"))
	defer cancel()
	if q.gate == nil {
		s.post(ctx, &q.m, q.binding, q.session)
		return
	}
	var once sync.Once
	open := func() { once.Do(func() { close(q.gate) }) }
	defer open()
	t := time.AfterFunc(initializedTimeout, open)
	defer t.Stop()
	if !s.post(ctx, &q.m, q.binding, q.session) {
		return
	}
	listening := make(chan struct{})
	s.mu.Lock()
	if s.st.why == nil {
		s.work.Go(func() { s.listen(q.binding, q.session, listening) })
	} else {
		close(listening)
	}
	s.mu.Unlock()
	wait(listening, listenTimeout)
}

// post posts a message that nobody waits for, and tells whether the server took it.
func (s *Streamable) post(ctx context.Context, m *Message, b binding, session string) bool {
	resp, failed := s.send(ctx, &outgoing{method: http.MethodPost, header: b.header(s, session, m), body: m.Body})
	switch {
	case failed != nil:
	case resp.StatusCode >= 200 && resp.StatusCode <= 299:
		if mediaType(resp.Header) == "text/event-stream" {
			_ = resp.Body.Close() // nothing can come on it, and it may never end
		} else {
			discard(resp.Body)
		}
		return true
	default:
		var body []byte
		body, failed = readRefusal(resp)
		_ = resp.Body.Close()
		e, isError := errorIn(body)
		if resp.StatusCode == http.StatusNotFound && session != "" && !b.modern && !(isError && e.aboutMethod()) {
			s.end(ErrSessionExpired, nil)
		}
	}
	if s.ctx.Err() == nil {
		s.log.Warn("a message was not delivered", "method", m.Method, "status", failed.Status)
	}
	return false
}
