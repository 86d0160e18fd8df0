package jsonrpc

import (
	"context"
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

// RequestTracker holds the open requests of one connection, each with the handle that cancels it: a Table, the clock
// and the lock.
//
// Races are decided by the table: the goroutine that takes an entry settles the request, and all others find no entry
// and do nothing. The Peer adds and removes the entries of its tracker; others may list and cancel.
//
// The zero value is ready to use. All methods are safe for concurrent use. Handles are called without a lock held.
type RequestTracker struct {
	server string
	many   atomic.Bool // see crowded; written with mu held

	mu    sync.Mutex // guards table, but for what never changes of it
	table Table
}

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
	_, err := t.add(dir, &Tracked{ID: id, Method: method, handle: cancelFunc(cancel)})
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
	e, err := t.table.Cancelled(dir, id, cause)
	t.mu.Unlock()
	return e != nil && e.handle.cancelWith(cause), err
}

// Cleanup removes an entry without calling its handle, and reports whether there was one.
func (t *RequestTracker) Cleanup(dir Direction, id ID) bool { return t.take(dir, id) != nil }

// IsPending reports whether a request is open.
func (t *RequestTracker) IsPending(dir Direction, id ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.table.Has(dir, id)
}

// Pending returns the open requests of both directions in the order of their start.
func (t *RequestTracker) Pending() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.table.list(t.server)
}

// Unanswered reports whether an outgoing request was cancelled, and no response to it has been read since. Once it is
// false, Options.OnLateResponse is being called, or was.
func (t *RequestTracker) Unanswered(id ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.table.Unanswered(id)
}

// manyOpen is the number of open requests from which on their messages are gathered before they are written. Fewer
// requests seldom have messages at the same time, and would only wait for the writer goroutine.
const manyOpen = 4

// crowded reports whether many requests are open.
func (t *RequestTracker) crowded() bool { return t.many.Load() }

// changed gives the lock back after a change of the table.
func (t *RequestTracker) changed() {
	if many := t.table.Len() >= manyOpen; many != t.many.Load() {
		t.many.Store(many)
	}
	t.mu.Unlock()
}

func (t *RequestTracker) add(dir Direction, e *Tracked) (int, error) {
	e.started = time.Now()
	t.mu.Lock()
	defer t.changed()
	return t.table.Open(dir, e)
}

func (t *RequestTracker) stepAside(e *Tracked, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.table.stepAside(e, most)
}

func (t *RequestTracker) take(dir Direction, id ID) *Tracked {
	t.mu.Lock()
	defer t.changed()
	return t.table.Take(dir, id)
}

func (t *RequestTracker) takeEntry(dir Direction, e *Tracked) (taken bool, cause error) {
	t.mu.Lock()
	defer t.changed()
	return t.table.TakeEntry(dir, e)
}

func (t *RequestTracker) takeWithdrawn(id ID, cause error) *Tracked {
	t.mu.Lock()
	defer t.changed()
	return t.table.Withdrawn(id, cause)
}

func (t *RequestTracker) takeCancelled(e *Tracked, settle func(error)) (taken bool, forgotten cancelledCall) {
	t.mu.Lock()
	defer t.changed()
	return t.table.GivenUp(e, settle)
}

func (t *RequestTracker) takeResponse(rawID []byte) (e *Tracked, g cancelledCall, late bool) {
	t.mu.Lock()
	defer t.changed()
	return t.table.Answered(rawID)
}

// tagOf returns the tag of a call that was given up; nil if it is not known any more.
func (t *RequestTracker) tagOf(id ID) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.table.late.known[id].tag
}

func (t *RequestTracker) close(cause error) (outgoing, incoming []*Tracked, settle []func(error)) {
	t.mu.Lock()
	defer t.changed()
	return t.table.Ended(cause)
}
