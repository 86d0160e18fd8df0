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
type earlyCancels struct{ list []earlyCancel } // the oldest first: each expires earlyFor after it came

type earlyCancel struct {
	id     string
	server ServerNumber // 0 = any
	cause  *event.CancelCause
	until  time.Time
}

// remember records a cancel. It replaces an earlier one of the same id. If there are too many, the oldest is dropped.
func (c *earlyCancels) remember(now time.Time, id string, server ServerNumber, cause *event.CancelCause) {
	c.expire(now)
	c.list = slices.DeleteFunc(c.list, func(e earlyCancel) bool { return e.id == id })
	if len(c.list) == maxEarly {
		c.list = c.list[1:]
	}
	c.list = append(c.list, earlyCancel{id: id, server: server, cause: cause, until: now.Add(earlyFor)})
}

// take removes and returns the cancel that came before the call id of a server, or nil if there is none.
func (c *earlyCancels) take(now time.Time, id string, server ServerNumber) *event.CancelCause {
	c.expire(now)
	i := slices.IndexFunc(c.list, func(e earlyCancel) bool { return e.id == id && (e.server == 0 || e.server == server) })
	if i < 0 {
		return nil
	}
	cause := c.list[i].cause
	c.list = slices.Delete(c.list, i, i+1)
	return cause
}

func (c *earlyCancels) expire(now time.Time) {
	n := 0
	for n < len(c.list) && now.After(c.list[n].until) {
		n++
	}
	c.list = c.list[n:]
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
