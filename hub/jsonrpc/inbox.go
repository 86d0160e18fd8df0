package jsonrpc

import "sync"

const (
	maxMustDeliver = 64 << 10
	maxCoalesced   = 4 << 10
	maxLossy       = 1 << 10
	// maxInboxBytes bounds the bytes of all waiting notifications, whatever their number.
	maxInboxBytes = 64 << 20
)

// inbox is the ordered queue from the reading goroutine to the receivers: notifications for the handler, and responses
// that must not overtake them. Only the reading goroutine adds to it, and never blocks.
type inbox struct {
	handle func(*Notification)
	count  *counters

	mu         sync.Mutex // guards what follows
	more       sync.Cond  // signalled when an item was added, and when the inbox was closed
	head, tail *delivery
	keys       map[string]*delivery // waiting coalesced notifications
	waiting    [3]int               // notifications, by class
	bytes      int
	busy       bool // the delivering goroutine is calling a receiver
	closed     bool // nothing is added any more; the goroutine ends when the queue is empty
}

// delivery is one item of the queue: a notification, or a call whose response was received.
type delivery struct {
	next  *delivery
	note  *Notification
	class Class
	key   string
	call  *Call
}

func newInbox(o Options, count *counters) *inbox {
	q := &inbox{handle: o.HandleNotification, count: count}
	q.more.L = &q.mu
	return q
}

// notify queues a notification according to its class.
func (q *inbox) notify(n *Notification, class Class, key string) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	if class == Coalesce {
		d := q.keys[key]
		if more := len(n.Params); d != nil && q.bytes+more-len(d.note.Params) <= maxInboxBytes {
			// The new one takes the place of the older one: at the end of the queue, a busy key might never be handled.
			q.bytes += more - len(d.note.Params)
			d.note = n
			q.mu.Unlock()
			q.count.add(&q.count.CoalescedNotifications)
			return
		}
	}
	limit := [...]int{MustDeliver: maxMustDeliver, Coalesce: maxCoalesced, Lossy: maxLossy}[class]
	if q.waiting[class] >= limit || (q.head != nil && q.bytes+len(n.Params) > maxInboxBytes) {
		q.mu.Unlock()
		q.count.add(&q.count.DroppedNotifications)
		return
	}
	d := &delivery{note: n, class: class, key: key}
	q.waiting[class]++
	q.bytes += len(n.Params)
	if class == Coalesce {
		if q.keys == nil {
			q.keys = make(map[string]*delivery)
		}
		q.keys[key] = d
	}
	q.append(d)
	q.mu.Unlock()
}

// idle reports whether the next item may be delivered at once: nothing waits, and no receiver is running. Only the
// reading goroutine adds items, so this stays true until that goroutine adds one.
func (q *inbox) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head == nil && !q.busy && !q.closed
}

// settle passes a call that has its response to its caller, at once if nothing that came before it still waits.
func (q *inbox) settle(c *Call) {
	q.mu.Lock()
	if q.closed || c.urgent || (q.head == nil && !q.busy) {
		q.mu.Unlock()
		c.finish()
		return
	}
	c.waits = true
	q.append(&delivery{call: c})
	q.mu.Unlock()
}

// expedite lets a received response overtake: the context of its caller has ended, and a response that was received
// before wins.
func (q *inbox) expedite(c *Call) {
	q.mu.Lock()
	c.urgent = true
	waits := c.waits
	q.mu.Unlock()
	if waits {
		c.finish()
	}
}

// close makes the delivering goroutine end. With drain, what waits is delivered first. Without drain, waiting
// notifications are dropped and waiting responses delivered at once, so that no handler can delay them.
func (q *inbox) close(drain bool) {
	q.mu.Lock()
	q.closed = true
	q.more.Signal()
	var rest *delivery
	if !drain {
		rest = q.head
		q.head, q.tail, q.keys, q.bytes, q.waiting = nil, nil, nil, 0, [3]int{}
	}
	q.mu.Unlock()
	for ; rest != nil; rest = rest.next {
		if rest.call != nil {
			rest.call.finish()
		} else {
			q.count.add(&q.count.DroppedNotifications)
		}
	}
}

// run is the delivering goroutine.
func (q *inbox) run() {
	for d := q.next(); d != nil; d = q.next() {
		if d.call != nil {
			d.call.finish()
		} else {
			q.handle(d.note)
		}
	}
}

// next waits for an item, removes and returns the first one. It returns nil at the end.
func (q *inbox) next() *delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.busy = false; q.head == nil; q.more.Wait() {
		if q.closed {
			return nil
		}
	}
	d := q.head
	q.busy = true
	if q.head = d.next; q.head == nil {
		q.tail = nil
	}
	d.next = nil
	if d.note != nil {
		q.waiting[d.class]--
		q.bytes -= len(d.note.Params)
		if d.class == Coalesce {
			delete(q.keys, d.key)
		}
	}
	return d
}

// append queues d. Called with mu held.
func (q *inbox) append(d *delivery) {
	if q.tail != nil {
		q.tail.next = d
	} else {
		q.head = d
	}
	q.tail = d
	q.more.Signal()
}
