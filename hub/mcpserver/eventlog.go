package mcpserver

import (
	"sync"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// eventLog holds what one HTTP client is sent, on all of its streams, until it has it. What it has, and what goes to a
// stream that nobody reads, is kept as long as there is room: a client that lost a stream may ask for what came after
// the last event that it saw.
type eventLog struct {
	keepEvents, keepBytes, queue int
	overflow                     func() // called without the lock, once: what waits for readers has passed the bound

	mu      sync.Mutex
	next    int
	streams map[int]*stream
	kept    []*event // oldest first: they go when there are too many
	bytes   int      // of kept
	waiting int      // bytes of the events that a reader is there for and has not written
	full    bool
}

// stream is one answer to a POST, or the stream of a GET.
type stream struct {
	log    *eventLog
	number int
	of     []jsonrpc.ID  // the requests that it answers; none: the stream of a GET
	wake   chan struct{} // cap 1
	// The rest is guarded by the log's lock.
	gone   int      // how many events are no longer held, the first ones
	events []*event // those after them
	over   bool     // no event comes any more
	reader int      // counts those who follow: the last one has the stream
	read   bool     // it is still there
}

type event struct {
	stream *stream
	number int
	data   []byte
	kept   bool // it is among the log's kept ones
	sent   bool
}

// open begins a stream. One that answers requests has its first reader, number 1, from the start.
func (l *eventLog) open(of []jsonrpc.ID) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	st := &stream{log: l, number: l.next, of: of, wake: make(chan struct{}, 1)}
	if of != nil {
		st.reader, st.read = 1, true
	}
	l.streams[st.number] = st
	return st
}

// push adds an event, unless data is nil; last ends the stream with it.
func (st *stream) push(data []byte, last bool) {
	l := st.log
	l.mu.Lock()
	if st.over || l.full {
		l.mu.Unlock()
		return
	}
	if data != nil {
		e := &event{stream: st, number: st.gone + len(st.events) + 1, data: data}
		st.events = append(st.events, e)
		l.waiting += len(data)
		if !st.read {
			l.keep(e)
		}
	}
	st.over = last
	l.full = l.waiting > l.queue
	full := l.full
	l.forget()
	l.drop(st)
	l.mu.Unlock()
	st.awake()
	if full {
		l.overflow()
	}
}

func (st *stream) awake() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// keep lets an event go when room is needed. It is called for the events of a stream in their order, with the lock
// held.
func (l *eventLog) keep(e *event) {
	if e.kept {
		return
	}
	e.kept = true
	l.waiting -= len(e.data)
	l.kept, l.bytes = append(l.kept, e), l.bytes+len(e.data)
}

// forget lets go of the oldest kept events, as far as the bounds ask. The lock is held.
func (l *eventLog) forget() {
	for len(l.kept) > 0 && (len(l.kept) > l.keepEvents || l.bytes > l.keepBytes) {
		e := l.kept[0]
		l.kept[0], l.kept = nil, l.kept[1:]
		l.bytes -= len(e.data)
		st := e.stream // of which e is the oldest event
		st.events[0], st.events = nil, st.events[1:]
		st.gone++
		l.drop(st)
	}
}

// drop forgets a stream of which nothing is left. The lock is held.
func (l *eventLog) drop(st *stream) {
	if st.over && len(st.events) == 0 {
		delete(l.streams, st.number)
	}
}

// follow makes the caller the one who reads the stream behind the event with a number, and sends away who did before;
// not when what comes behind that is not held.
func (st *stream) follow(n int) (reader int, held bool) {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	if st.from(n) < 0 {
		return 0, false
	}
	st.reader++
	st.read = true
	st.awake()
	return st.reader, true
}

// from is how many of the held events come before those behind a number; -1: what comes behind it is not held. On the
// stream of a GET, whose notifications may be lost, those that are there go on instead. The lock is held.
func (st *stream) from(n int) int {
	if st.of == nil {
		n = max(n, st.gone)
	}
	if n < st.gone || n > st.gone+len(st.events) {
		return -1
	}
	return n - st.gone
}

// left says that a reader has gone. What it was not sent is kept for the next one, within the bounds.
func (st *stream) left(reader int) {
	l := st.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if st.reader != reader {
		return
	}
	st.read = false
	for _, e := range st.events {
		l.keep(e)
	}
	l.forget()
}

// after gives the events behind a number, and tells whether the stream is over with them. mine is false when somebody
// else reads by now; held is false when one of them is no longer there.
func (st *stream) after(n, reader int) (events []*event, over, mine, held bool) {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	from := st.from(n)
	if from < 0 {
		return nil, st.over, st.reader == reader, false
	}
	return append([]*event(nil), st.events[from:]...), st.over, st.reader == reader, true
}

func (e *event) wasSent() {
	l := e.stream.log
	l.mu.Lock()
	defer l.mu.Unlock()
	e.sent = true
	l.keep(e)
	l.forget()
}

func (l *eventLog) stream(number int) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams[number]
}

// followed tells whether somebody reads the stream.
func (st *stream) followed() bool {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	return st.read
}

// ended tells whether no event comes any more.
func (st *stream) ended() bool {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	return st.over
}

// taken tells whether the stream is over, and a client that was sent its events up to a number has all of them.
func (st *stream) taken(seen int) bool {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	return st.over && seen == st.gone+len(st.events)
}

// unsent is the number of the last event before the first that nobody was sent.
func (st *stream) unsent() int {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	n := len(st.events)
	for n > 0 && !st.events[n-1].sent {
		n--
	}
	return st.gone + n
}
