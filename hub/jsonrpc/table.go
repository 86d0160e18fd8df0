package jsonrpc

import (
	"cmp"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Table is what is known of the requests of one connection: which are open in either direction, what may still be
// written about each, and which responses come late. It has one part for each direction, because each side numbers its
// own requests: an id of one direction never matches the same id of the other.
//
// It is plain data. A method says what has happened, and returns what follows. Races are decided here: whoever takes an
// entry out settles the request, and all others find none and do nothing. The zero value is ready to use. It is not
// safe for concurrent use: RequestTracker has the lock. The explorer of hub/core goes through all orders of what can
// happen with it (explore_wire_test.go).
type Table struct {
	// Overtaken says that a withdrawal may be read before its request: Options.Overtaken.
	Overtaken     bool
	uncancellable []string // nil: defaultUncancellable

	open   [2]map[ID]*Tracked // by Direction
	peak   [2]int             // the largest size that each map has had
	asides int                // the number of entries that are aside
	seq    uint64             // orders entries that started within one tick of the clock
	closed error              // once set, nothing can be opened
	late   tombstones         // outgoing ids that were cancelled

	// With Overtaken, the incoming ids that have come, and those that were withdrawn before.
	came, early recentIDs
}

// Tracked is one request. Its fields do not change while it is in the table, except the last two, which the table alone
// changes.
type Tracked struct {
	ID     ID
	Method string
	Quiet  bool // How.Quiet

	started time.Time
	handle  canceller
	tag     any // for Options.Tap; nil: the tap is not called for its messages
	seq     uint64
	aside   bool // an incoming request that does not count against MaxIncoming (Request.Aside)
	cause   error
}

// canceller is the handle of an entry. cancelWith reports whether the cancel came in time.
type canceller interface{ cancelWith(cause error) bool }

// Len returns how many requests are open.
func (t *Table) Len() int { return len(t.open[Outgoing]) + len(t.open[Incoming]) }

// Has reports whether a request is open.
func (t *Table) Has(dir Direction, id ID) bool { return t.open[dir&1][id] != nil }

// Open adds a request, and returns how many are now open in that direction. Those that are aside are counted
// separately.
func (t *Table) Open(dir Direction, e *Tracked) (int, error) {
	if e.ID.IsZero() {
		return 0, ErrInvalidID
	}
	open := &t.open[dir&1]
	switch {
	case t.closed != nil:
		return 0, t.closed
	case dir == Incoming && t.early.has(e.ID) && t.cancellable(e.Method):
		t.early.remove(e.ID)
		t.came.add(e.ID)
		return 0, errWithdrawnBefore
	case *open == nil:
		*open = make(map[ID]*Tracked)
	case (*open)[e.ID] != nil:
		return len(*open), ErrDuplicateID
	}
	t.seq++
	e.seq = t.seq
	(*open)[e.ID] = e
	t.peak[dir&1] = max(t.peak[dir&1], len(*open))
	if dir == Incoming && t.Overtaken {
		t.came.add(e.ID)
	}
	if e.aside {
		t.asides++
		return t.asides, nil
	}
	if dir == Incoming {
		return len(*open) - t.asides, nil
	}
	return len(*open), nil
}

// remove removes an entry. A map never shrinks, so a large map is replaced once it is empty.
func (t *Table) remove(dir Direction, e *Tracked) {
	delete(t.open[dir&1], e.ID)
	if e.aside {
		t.asides--
	}
	if len(t.open[dir&1]) == 0 && t.peak[dir&1] > 1024 {
		t.open[dir&1], t.peak[dir&1] = nil, 0
	}
}

// Take removes and returns the entry with that id, or nil. The caller must settle the request.
func (t *Table) Take(dir Direction, id ID) *Tracked {
	e := t.open[dir&1][id]
	if e != nil {
		t.remove(dir, e)
	}
	return e
}

// TakeEntry is Take for exactly this entry: a later request may have the same id. With an incoming request that was
// taken, an answer to it may be written. If another one has taken it, cause is why it was cancelled, or nil.
func (t *Table) TakeEntry(dir Direction, e *Tracked) (taken bool, cause error) {
	if t.open[dir&1][e.ID] != e {
		return false, e.cause
	}
	t.remove(dir, e)
	return true, e.cause
}

// Withdrawn takes an incoming request that the peer cancels: from now on no answer to it is written, and its id is
// free. A request that opens the session is not taken: a client must not cancel it, and without its answer there is no
// session. With Overtaken, one that has not come so far will not be opened.
func (t *Table) Withdrawn(id ID, cause error) *Tracked {
	e := t.open[Incoming][id]
	switch {
	case e == nil:
		if t.Overtaken && !t.came.has(id) {
			t.early.add(id)
		}
		return nil
	case !t.cancellable(e.Method):
		return nil
	}
	e.cause = cause
	t.remove(Incoming, e)
	return e
}

// GivenUp takes an outgoing call that is cancelled here. From now on, a response to it counts as late and not as
// unknown. settle is stored for the late response. forgotten is the call whose place it takes: see tombstones.add.
func (t *Table) GivenUp(e *Tracked, settle func(error)) (taken bool, forgotten cancelledCall) {
	if t.open[Outgoing][e.ID] != e {
		return false, cancelledCall{}
	}
	t.remove(Outgoing, e)
	return true, t.late.add(e.ID, cancelledCall{method: e.Method, quiet: e.Quiet, tag: e.tag, settle: settle})
}

// GivenUpNotice is what is still written about a call that was given up.
type GivenUpNotice uint8

// What is written about a call that was given up.
const (
	NoticeNone    GivenUpNotice = iota // nothing: the peer does not know the call
	NoticeCancel                       // the cancel that the connection has for it
	NoticeLate                         // nothing before its late response says what is to be cancelled (How.Quiet)
	NoticeAbandon                      // nothing: it may not be cancelled; what the connection holds is released
)

// Notice returns what is still written about a call that was given up. written is false if its request was taken out of
// the queue, and so is never written. It looks only at what never changes.
func (t *Table) Notice(e *Tracked, written bool) GivenUpNotice {
	switch {
	case !written:
		return NoticeNone
	case e.Quiet:
		return NoticeLate
	case !t.cancellable(e.Method):
		return NoticeAbandon
	}
	return NoticeCancel
}

// Answered takes the call that a response answers. late reports whether that call was cancelled, and g is then what was
// stored about it before this response.
func (t *Table) Answered(rawID []byte) (e *Tracked, g cancelledCall, late bool) {
	e = t.open[Outgoing][ID{raw: string(rawID)}]
	if e == nil {
		if g, late = t.late.known[ID{raw: string(rawID)}]; late && !g.late {
			answered := g
			answered.late = true
			t.late.known[ID{raw: string(rawID)}] = answered
		}
		return nil, g, late
	}
	t.remove(Outgoing, e)
	return e, cancelledCall{}, false
}

// Unanswered reports whether an outgoing request was cancelled, and no response to it has been read since.
func (t *Table) Unanswered(id ID) bool {
	g, known := t.late.known[id]
	return known && !g.late
}

// Cancelled records why an open request is to be cancelled, and returns it: its handle is called next. e is nil if the
// id is unknown or over, or was cancelled before. The error is ErrUncancellable.
func (t *Table) Cancelled(dir Direction, id ID, cause error) (e *Tracked, err error) {
	e = t.open[dir&1][id]
	switch {
	case e == nil || e.cause != nil:
		return nil, nil
	case !t.cancellable(e.Method):
		return nil, ErrUncancellable
	}
	e.cause = cause
	return e, nil
}

// Ended removes all entries, and opens no more. settle are the functions of the quiet calls that were cancelled and
// never answered: no answer will come any more.
func (t *Table) Ended(cause error) (outgoing, incoming []*Tracked, settle []func(error)) {
	if t.closed == nil {
		t.closed = cause
	}
	for _, e := range t.open[Outgoing] {
		outgoing = append(outgoing, e)
	}
	for _, e := range t.open[Incoming] {
		e.cause = cause
		incoming = append(incoming, e)
	}
	t.open, t.asides = [2]map[ID]*Tracked{}, 0
	return outgoing, incoming, t.late.takeSettle()
}

// stepAside marks an open incoming request as aside, if fewer than most are aside. It reports whether the request does
// not count against MaxIncoming any more.
func (t *Table) stepAside(e *Tracked, most int) bool {
	switch {
	case t.open[Incoming][e.ID] != e || e.aside:
		return true
	case t.asides >= most:
		return false
	}
	e.aside = true
	t.asides++
	return true
}

// cancellable reports whether requests of a method may be cancelled at all.
func (t *Table) cancellable(method string) bool {
	list := t.uncancellable
	if list == nil {
		list = defaultUncancellable
	}
	return !slices.Contains(list, method)
}

// list returns the open requests of both directions in the order of their start.
func (t *Table) list(server string) []Entry {
	all := make([]*Tracked, 0, t.Len())
	entries := make([]Entry, 0, t.Len())
	for dir := range t.open {
		for _, e := range t.open[dir] {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *Tracked) int { return cmp.Compare(a.seq, b.seq) })
	for _, e := range all {
		dir := Outgoing
		if t.open[Incoming][e.ID] == e {
			dir = Incoming
		}
		entries = append(entries, Entry{e.ID, e.Method, server, dir, e.started, e.cause})
	}
	return entries
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

// maxRecentIDs is how many ids are remembered with Overtaken. An id that came longer ago counts as one that never came,
// so a peer that withdraws it so late, and then uses it again, gets no answer.
const maxRecentIDs = 256

// recentIDs remembers the ids that were added last. The zero value is ready to use.
type recentIDs struct {
	known map[ID]int // with the position in ring
	ring  []ID
	next  int
}

func (r *recentIDs) has(id ID) bool {
	_, known := r.known[id]
	return known
}

// add remembers an id, unless it is too long to be kept.
func (r *recentIDs) add(id ID) {
	if r.has(id) || len(id.raw) > bounds.WireIDBytes {
		return
	}
	if r.known == nil {
		r.known = make(map[ID]int)
	}
	if len(r.ring) < maxRecentIDs {
		r.known[id] = len(r.ring)
		r.ring = append(r.ring, id)
		return
	}
	if old := r.ring[r.next]; r.known[old] == r.next { // else it was removed, and perhaps added again
		delete(r.known, old)
	}
	r.known[id], r.ring[r.next] = r.next, id
	r.next = (r.next + 1) % maxRecentIDs
}

func (r *recentIDs) remove(id ID) { delete(r.known, id) }
