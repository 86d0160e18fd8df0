package fakeserver

import (
	"strconv"
	"strings"
)

// stream holds all events of one answer, so that it can be read again from any event on. It is guarded by HTTP.mu.
type stream struct {
	http     *HTTP
	name     string // first part of the ids of its events
	json     bool   // it only takes the answer
	events   []string
	sent     int  // number of events that were sent to any client
	answered bool // the answer is among the events
	idle     bool // the behaviour has returned
	reader   int  // the present reader; an earlier reader stops
	changed  chan struct{}
}

func (h *HTTP) newStream(name string, json bool) *stream {
	return &stream{http: h, name: name, json: json, changed: make(chan struct{})}
}

// done reports whether the stream ends: the behaviour has returned and its answer is there. A stream without an answer
// stays open, as with servers that write nothing for a cancelled call. It is called with HTTP.mu held.
func (st *stream) done() bool { return st.answered && st.idle }

func (st *stream) announce() { // called with HTTP.mu held
	close(st.changed)
	st.changed = make(chan struct{})
}

// returned records that the behaviour has returned. For a pair of streams st is nil, and nothing is recorded.
func (st *stream) returned() {
	if st == nil {
		return
	}
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	st.idle = true
	st.announce()
}

// first returns the first event, and whether it is the answer.
func (st *stream) first() (data string, isAnswer bool) {
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	if len(st.events) == 0 {
		return "", false
	}
	return st.events[0], len(st.events) == 1 && st.answered
}

// attach makes the caller the only reader, from the event that follows the first after events; -1 continues where the
// last reader ended.
func (st *stream) attach(after int) (reader, from int) {
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	st.reader++
	st.announce()
	if after < 0 {
		after = st.sent
	}
	return st.reader, min(after, len(st.events))
}

// next returns the event at i, or a channel to wait for. over means that no further event comes for this reader.
func (st *stream) next(reader, i int) (data string, ok, over bool, changed <-chan struct{}) {
	st.http.mu.Lock()
	defer st.http.mu.Unlock()
	switch {
	case st.reader != reader:
		return "", false, true, nil
	case i < len(st.events):
		st.sent = max(st.sent, i+1)
		return st.events[i], true, false, nil
	case st.done():
		return "", false, true, nil
	}
	return "", false, false, st.changed
}

func (st *stream) eventID(n int) string { return st.name + "_" + strconv.Itoa(n) }

// resume finds the stream of a session that an event id names, and returns how many of its events the client has.
func (h *HTTP) resume(s *session, id string) (st *stream, have int) {
	name, number, ok := strings.Cut(id, "_")
	have, err := strconv.Atoi(number)
	if !ok || err != nil || have < 0 {
		return nil, 0
	}
	if s.own.name == name {
		return s.own, have
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.exchanges {
		if x.reply != nil && x.session == s && x.reply.name == name {
			return x.reply, have
		}
	}
	return nil, 0
}
