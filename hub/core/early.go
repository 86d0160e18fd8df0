package core

import (
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

const (
	// earlyFor is how long a cancel that came before its call is remembered.
	earlyFor = 30 * time.Second
	// maxEarly limits how many such cancels are remembered, for a host that sends many by mistake.
	maxEarly = 4096
	// maxRecent is for how many ended requests the hub knows that they have ended.
	maxRecent = 8192
)

// earlyCancels are the cancels that came before their calls. The zero value has none.
type earlyCancels struct {
	byID  map[string]earlyCancel
	order []earlyTurn // oldest first: each expires earlyFor after it came
	came  uint64      // counts them
}

type earlyCancel struct {
	n      uint64
	server string // "" = any
	cause  *event.CancelCause
	until  time.Time
}

// earlyTurn is the place of a cancel in their order. It is void once a later one of the same id has come, or the call.
type earlyTurn struct {
	id string
	n  uint64
}

// remember records a cancel. It replaces an earlier one of the same id. If there are too many, the oldest is dropped.
func (c *earlyCancels) remember(now time.Time, id, server string, cause *event.CancelCause) {
	if c.byID == nil {
		c.byID = map[string]earlyCancel{}
	}
	c.came++
	c.byID[id] = earlyCancel{n: c.came, server: server, cause: cause, until: now.Add(earlyFor)}
	c.order = append(c.order, earlyTurn{id, c.came})
	c.expire(now)
}

// take removes and returns the cancel that came before the call id of a server, or nil if there is none.
func (c *earlyCancels) take(now time.Time, id, server string) *event.CancelCause {
	c.expire(now)
	early, ok := c.byID[id]
	if !ok || early.server != "" && early.server != server {
		return nil
	}
	delete(c.byID, id)
	return early.cause
}

// expire drops the cancels that are too old or too many.
func (c *earlyCancels) expire(now time.Time) {
	n := 0
	for ; n < len(c.order); n++ {
		turn := c.order[n]
		early, ok := c.byID[turn.id]
		if ok && early.n == turn.n {
			if len(c.byID) <= maxEarly && !now.After(early.until) {
				break
			}
			delete(c.byID, turn.id)
		}
	}
	c.order = slices.Delete(c.order, 0, n)
	if len(c.order) > 2*maxEarly { // one id, over and over
		c.order = slices.DeleteFunc(c.order, func(t earlyTurn) bool { return c.byID[t.id].n != t.n })
	}
}

// recent remembers the ids that were added last.
type recent struct {
	known map[string]struct{}
	ids   []string
	next  int
}

// add remembers an id, and forgets the oldest if there are too many.
func (r *recent) add(id string) {
	if r.has(id) {
		return // a host may reuse an id
	}
	if r.known == nil {
		r.known = map[string]struct{}{}
	}
	if len(r.ids) < maxRecent {
		r.ids = append(r.ids, id)
	} else {
		delete(r.known, r.ids[r.next])
		r.ids[r.next] = id
		r.next = (r.next + 1) % maxRecent
	}
	r.known[id] = struct{}{}
}

// has reports whether id is remembered.
func (r *recent) has(id string) bool {
	_, ok := r.known[id]
	return ok
}
