package outcome

import (
	"container/list"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// earlyFor is how long a cancel that came before its call is remembered.
const earlyFor = 30 * time.Second

// maxEarly limits how many such cancels are remembered, for a host that sends many by mistake.
const maxEarly = 4096

// EarlyCancels are the cancels that came before their calls. The zero value has none. It is guarded by the hub's lock.
type EarlyCancels struct {
	byID  map[string]*list.Element
	order list.List // of *earlyCancel, the oldest first: each expires earlyFor after it came
}

type earlyCancel struct {
	cause      *event.CancelCause
	id, server string // server "" = any server
	until      time.Time
}

// IDs returns the ids of the calls that would be cancelled if they came now.
func (c *EarlyCancels) IDs() (list []string) {
	c.expire(time.Now())
	for id := range c.byID {
		list = append(list, id)
	}
	return list
}

// Remember records a cancel of the call id of a server, "" for any server. It replaces an earlier one of the same id.
// If there are too many, the oldest is dropped.
func (c *EarlyCancels) Remember(id, server string, cause *event.CancelCause) {
	now := time.Now()
	c.expire(now)
	c.drop(c.byID[id])
	if len(c.byID) == maxEarly {
		c.drop(c.order.Front())
	}
	if c.byID == nil {
		c.byID = map[string]*list.Element{}
	}
	c.byID[id] = c.order.PushBack(&earlyCancel{cause: cause, id: id, server: server, until: now.Add(earlyFor)})
}

// Take removes and returns the cancel that came before the call id of a server, or nil if there is none.
func (c *EarlyCancels) Take(id, server string) *event.CancelCause {
	c.expire(time.Now())
	e := c.byID[id]
	if e == nil {
		return nil
	}
	early := e.Value.(*earlyCancel)
	if early.server != "" && early.server != server {
		return nil
	}
	c.drop(e)
	return early.cause
}

func (c *EarlyCancels) expire(now time.Time) {
	for e := c.order.Front(); e != nil && now.After(e.Value.(*earlyCancel).until); e = c.order.Front() {
		c.drop(e)
	}
}

// drop removes a cancel; nil is ignored.
func (c *EarlyCancels) drop(e *list.Element) {
	if e != nil {
		delete(c.byID, c.order.Remove(e).(*earlyCancel).id)
	}
}
