package mcpserver

import (
	"sync"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// eventLog holds the events of all streams to one HTTP client until the client has them. Events that were sent, and
// events of a stream that has no reader, are kept as long as there is room: a client that lost a stream may ask for the
// events after the last one that it saw.
type eventLog struct {
	keepEvents, keepBytes, queue int
	overflow                     func() // called once, without the lock: waiting has exceeded queue

	mu      sync.Mutex
	next    int
	streams map[int]*stream
	kept    []*event // the oldest first; dropped when there are too many
	bytes   int      // of the events in kept
	waiting int      // bytes of events that have a reader and were not written yet
	full    bool
}

// stream holds the events of one answer to a POST, or of a GET.
type stream struct {
	log    *eventLog
	number int
	of     []jsonrpc.ID  // the requests that it answers; nil for the stream of a GET
	wake   chan struct{} // capacity 1
	// The rest is guarded by the log's lock.
	gone   int      // how many events at the beginning were dropped
	events []*event // the events after them
	over   bool     // no event is added any more
	reader int      // the number of the latest reader; only that one may read
	read   bool     // that reader is still there
}

type event struct {
	stream *stream
	number int
	data   []byte
	kept   bool // it is in the log's kept
	sent   bool
}

// open creates a stream. A stream that answers requests has its first reader, number 1, from the start.
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

// push adds an event, unless data is nil. last ends the stream with it.
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

// keep allows an event to be dropped when room is needed. It is called for the events of a stream in their order,
// with the lock held.
func (l *eventLog) keep(e *event) {
	if e.kept {
		return
	}
	e.kept = true
	l.waiting -= len(e.data)
	l.kept, l.bytes = append(l.kept, e), l.bytes+len(e.data)
}

// forget drops the oldest kept events that exceed the bounds. Called with the lock held.
func (l *eventLog) forget() {
	for len(l.kept) > 0 && (len(l.kept) > l.keepEvents || l.bytes > l.keepBytes) {
		e := l.kept[0]
		l.kept[0], l.kept = nil, l.kept[1:]
		l.bytes -= len(e.data)
		st := e.stream // e is the oldest event of st
		st.events[0], st.events = nil, st.events[1:]
		st.gone++
		l.drop(st)
	}
}

// drop removes a stream that is over and has no events. Called with the lock held.
func (l *eventLog) drop(st *stream) {
	if st.over && len(st.events) == 0 {
		delete(l.streams, st.number)
	}
}

// follow makes the caller the reader of the events after number n, in place of the previous reader. held is false, and
// nothing changes, if these events were dropped.
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

// from returns how many of the held events come before those after number n, or -1 if an event after n was dropped. On
// the stream of a GET, whose notifications may be lost, it continues with the events that are left. Called with the
// lock held.
func (st *stream) from(n int) int {
	if st.of == nil {
		n = max(n, st.gone)
	}
	if n < st.gone || n > st.gone+len(st.events) {
		return -1
	}
	return n - st.gone
}

// left is called when a reader has ended. Events that were not sent to it are kept for the next one, within the bounds.
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

// after returns the events after number n, and reports whether the stream is over with them. mine is false if there is
// another reader now; held is false if one of the events was dropped.
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

// followed reports whether the stream has a reader.
func (st *stream) followed() bool {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	return st.read
}

// ended reports whether no event is added any more.
func (st *stream) ended() bool {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	return st.over
}

// taken reports whether the stream is over and a client that has its events up to number seen has all of them.
func (st *stream) taken(seen int) bool {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	return st.over && seen == st.gone+len(st.events)
}

// unsent returns the number of the last event that was sent, or else of the last that was dropped.
func (st *stream) unsent() int {
	st.log.mu.Lock()
	defer st.log.mu.Unlock()
	n := len(st.events)
	for n > 0 && !st.events[n-1].sent {
		n--
	}
	return st.gone + n
}
