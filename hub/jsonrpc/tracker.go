package jsonrpc

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Direction says which side sent a request.
type Direction int

const (
	Outgoing Direction = iota // this side sent it
	Incoming                  // the peer sent it
)

func (d Direction) String() string { return [...]string{"outgoing", "incoming"}[d] }

// Entry describes one tracked request.
type Entry struct {
	ID             ID
	Method, Server string
	Direction      Direction
	Started        time.Time
	Cause          error // why it was cancelled on this side; nil if it was not
}

// RequestTracker holds the open requests of one connection, each with the handle that cancels it. It has one table for
// each direction, because each side numbers its own requests: an id of one direction never matches the same id of the
// other.
//
// Races are decided here: the goroutine that removes an entry from its table settles the request, and all others find
// no entry and do nothing. The Peer adds and removes the entries of its tracker; others may list and cancel.
//
// The zero value is ready to use. All methods are safe for concurrent use. Handles are called without a lock held.
type RequestTracker struct {
	server        string
	uncancellable []string // nil: defaultUncancellable

	open atomic.Int64 // the number of entries in both tables; written with mu held

	mu     sync.Mutex         // guards what follows
	tables [2]map[ID]*tracked // by Direction
	peak   [2]int             // the largest size that each table has had
	asides int                // the number of entries that are aside
	seq    uint64             // orders entries that started within one tick of the clock
	closed error              // once set, nothing can be registered
	late   tombstones         // outgoing ids that were cancelled
}

// tracked is one entry. The fields before tag never change, and tag is set before another goroutine can read it. The
// fields after tag are guarded by the tracker's mu.
type tracked struct {
	id      ID
	method  string
	started time.Time
	handle  canceller
	tag     any  // for Options.Tap; nil: the tap is not called for its messages
	aside   bool // an incoming request that does not count against MaxIncoming (Request.Aside)
	seq     uint64
	cause   error
}

// canceller is the handle of an entry. cancelWith reports whether the cancel came in time.
type canceller interface{ cancelWith(cause error) bool }

type cancelFunc func(cause error)

func (f cancelFunc) cancelWith(cause error) bool {
	if f != nil {
		f(cause)
	}
	return true
}

// Register adds an open request with its cancel handle, which may be nil. The error is ErrDuplicateID if the id is open
// in that direction, ErrInvalidID for the zero ID, and a *ClosedError once the connection has ended.
func (t *RequestTracker) Register(dir Direction, id ID, method string, cancel func(cause error)) error {
	_, err := t.add(dir, &tracked{id: id, method: method, handle: cancelFunc(cancel)})
	return err
}

// Cancel calls the handle of an open request with cause (nil counts as context.Canceled) and records the cause in its
// entry. The entry stays until Cleanup; the Peer calls that for its own requests. Cancel returns false and no error if
// the id is unknown or over, or was cancelled before, and ErrUncancellable for a request that opens the session.
func (t *RequestTracker) Cancel(dir Direction, id ID, cause error) (bool, error) {
	if cause == nil {
		cause = context.Canceled
	}
	t.mu.Lock()
	e := t.tables[dir&1][id]
	switch {
	case e == nil:
		t.mu.Unlock()
		return false, nil
	case !t.cancellable(e.method):
		t.mu.Unlock()
		return false, ErrUncancellable
	case e.cause != nil:
		t.mu.Unlock()
		return false, nil
	}
	e.cause = cause
	t.mu.Unlock()
	return e.handle.cancelWith(cause), nil
}

// Cleanup removes an entry without calling its handle, and reports whether there was one.
func (t *RequestTracker) Cleanup(dir Direction, id ID) bool { return t.take(dir, id) != nil }

// IsPending reports whether a request is open.
func (t *RequestTracker) IsPending(dir Direction, id ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tables[dir&1][id] != nil
}

// Pending returns the open requests of both directions in the order of their start.
func (t *RequestTracker) Pending() []Entry {
	type ordered struct {
		Entry
		seq uint64
	}
	t.mu.Lock()
	list := make([]ordered, 0, len(t.tables[Outgoing])+len(t.tables[Incoming]))
	for dir, table := range t.tables {
		for _, e := range table {
			list = append(list, ordered{Entry{e.id, e.method, t.server, Direction(dir), e.started, e.cause}, e.seq})
		}
	}
	t.mu.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].seq < list[j].seq })
	entries := make([]Entry, len(list))
	for i := range list {
		entries[i] = list[i].Entry
	}
	return entries
}

// cancellable reports whether requests of a method may be cancelled at all.
func (t *RequestTracker) cancellable(method string) bool {
	list := t.uncancellable
	if list == nil {
		list = defaultUncancellable
	}
	return !slices.Contains(list, method)
}

// add adds an entry to its table and returns how many are now open in that direction. Entries that are aside are
// counted separately.
func (t *RequestTracker) add(dir Direction, e *tracked) (int, error) {
	if e.id.IsZero() {
		return 0, ErrInvalidID
	}
	e.started = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	table := &t.tables[dir&1]
	switch {
	case t.closed != nil:
		return 0, t.closed
	case *table == nil:
		*table = make(map[ID]*tracked)
	case (*table)[e.id] != nil:
		return len(*table), ErrDuplicateID
	}
	t.seq++
	e.seq = t.seq
	(*table)[e.id] = e
	t.open.Add(1)
	t.peak[dir&1] = max(t.peak[dir&1], len(*table))
	if e.aside {
		t.asides++
		return t.asides, nil
	}
	if dir == Incoming {
		return len(*table) - t.asides, nil
	}
	return len(*table), nil
}

// manyOpen is the number of open requests from which on their messages are gathered before they are written. Fewer
// requests seldom have messages at the same time, and would only wait for the writer goroutine.
const manyOpen = 4

// crowded reports whether many requests are open.
func (t *RequestTracker) crowded() bool { return t.open.Load() >= manyOpen }

// stepAside marks an open incoming request as aside, if fewer than most are aside. It reports whether the request does
// not count against MaxIncoming any more.
func (t *RequestTracker) stepAside(e *tracked, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.tables[Incoming][e.id] != e || e.aside:
		return true
	case t.asides >= most:
		return false
	}
	e.aside = true
	t.asides++
	return true
}

// remove removes an entry. A map never shrinks, so a large map is replaced once it is empty. Called with mu held.
func (t *RequestTracker) remove(dir Direction, e *tracked) {
	delete(t.tables[dir&1], e.id)
	t.open.Add(-1)
	if e.aside {
		t.asides--
	}
	if len(t.tables[dir&1]) == 0 && t.peak[dir&1] > 1024 {
		t.tables[dir&1], t.peak[dir&1] = nil, 0
	}
}

// take removes and returns the entry with that id, or nil. The caller must settle the request.
func (t *RequestTracker) take(dir Direction, id ID) *tracked {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.tables[dir&1][id]
	if e != nil {
		t.remove(dir, e)
	}
	return e
}

// takeEntry is take for exactly this entry: a later request may have the same id. If another goroutine has taken it,
// cause is why it was cancelled, or nil.
func (t *RequestTracker) takeEntry(dir Direction, e *tracked) (taken bool, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tables[dir&1][e.id] != e {
		return false, e.cause
	}
	t.remove(dir, e)
	return true, e.cause
}

// takeWithdrawn takes an incoming request that the peer cancels: it records the cause and removes the entry in one
// step. A request that opens the session is not taken: a client must not cancel it, and without its answer there is no
// session.
func (t *RequestTracker) takeWithdrawn(id ID, cause error) *tracked {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.tables[Incoming][id]
	if e == nil || !t.cancellable(e.method) {
		return nil
	}
	e.cause = cause
	t.remove(Incoming, e)
	return e
}

// takeCancelled is takeEntry for an outgoing call that is given up. From now on, a response to it counts as late and
// not as unknown. g is stored for the late response. forgotten is the call whose place it takes: see tombstones.add.
func (t *RequestTracker) takeCancelled(e *tracked, g cancelledCall) (taken bool, forgotten cancelledCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tables[Outgoing][e.id] != e {
		return false, cancelledCall{}
	}
	t.remove(Outgoing, e)
	return true, t.late.add(e.id, g)
}

// takeResponse takes the call that a response answers. late reports whether that call was cancelled, and g is then what
// was stored about it.
func (t *RequestTracker) takeResponse(rawID []byte) (e *tracked, g cancelledCall, late bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e = t.tables[Outgoing][ID{raw: string(rawID)}]
	if e == nil {
		if g, late = t.late.has(rawID); late && !g.late {
			g.late = true
			t.late.known[ID{raw: string(rawID)}] = g
		}
		return nil, g, late
	}
	t.remove(Outgoing, e)
	return e, cancelledCall{}, false
}

// Unanswered reports whether an outgoing request was cancelled, and no response to it has been read since. Once it is
// false, Options.OnLateResponse is being called, or was.
func (t *RequestTracker) Unanswered(id ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, known := t.late.known[id]
	return known && !g.late
}

// close removes all entries and rejects new ones. settle are the functions of the quiet calls that were cancelled and
// never answered: no answer will come any more.
func (t *RequestTracker) close(cause error) (outgoing, incoming []*tracked, settle []func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed == nil {
		t.closed = cause
	}
	for _, e := range t.tables[Outgoing] {
		outgoing = append(outgoing, e)
	}
	for _, e := range t.tables[Incoming] {
		e.cause = cause
		incoming = append(incoming, e)
	}
	t.tables, t.asides = [2]map[ID]*tracked{}, 0
	t.open.Store(0)
	return outgoing, incoming, t.late.takeSettle()
}

// tombstones stores the last maxTombstones cancelled outgoing ids. After an id was forgotten, its late response is
// counted as unknown and not passed to Options.OnLateResponse, so the cancel of a quiet call fails with
// errCancelForgotten.
type tombstones struct {
	known map[ID]cancelledCall
	ring  []ID // the ids in the order in which they were added, a ring buffer once it is full
	next  int
}

// cancelledCall is what is stored about a cancelled call.
type cancelledCall struct {
	method string
	quiet  bool
	late   bool // its response has come
	tag    any
	settle func(error) // for a quiet call: called with what becomes of the protocol's own cancel for it; else nil
}

const (
	maxTombstones = 4096
	// maxTags is how many of them have their tag. A tag holds what belongs to a call, its timeline for example, and is
	// large beside its tombstone. The response of an older call is passed on without one.
	maxTags = 512
)

// add stores a cancelled call. forgotten is the call whose place it takes, the zero cancelledCall if there was room.
func (r *tombstones) add(id ID, g cancelledCall) (forgotten cancelledCall) {
	if r.known == nil {
		r.known = make(map[ID]cancelledCall)
	}
	r.known[id] = g
	at := len(r.ring)
	if at < maxTombstones {
		r.ring = append(r.ring, id)
	} else {
		at = r.next
		forgotten = r.known[r.ring[at]]
		delete(r.known, r.ring[at])
		r.ring[at] = id
		r.next = (at + 1) % maxTombstones
	}
	if len(r.ring) > maxTags {
		old := r.ring[(at-maxTags+maxTombstones)%maxTombstones]
		untagged := r.known[old]
		untagged.tag = nil
		r.known[old] = untagged
	}
	return forgotten
}

// takeSettle returns the settle functions of all quiet calls, and removes them from the entries.
func (r *tombstones) takeSettle() (list []func(error)) {
	for id, g := range r.known {
		if g.settle != nil {
			list = append(list, g.settle)
			g.settle = nil
			r.known[id] = g
		}
	}
	return list
}

func (r *tombstones) has(rawID []byte) (g cancelledCall, known bool) {
	g, known = r.known[ID{raw: string(rawID)}]
	return g, known
}
