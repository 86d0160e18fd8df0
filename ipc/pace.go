package ipc

import (
	"time"
)

// pace coalesces the progress of one window. The newest progress of a request wins, the first is sent at once, and
// between two of one request there is at least the interval. The cost of an operation does not depend on the number of
// requests, and no request needs a timer: requests become due in the order in which they were last sent, so one queue
// is always sorted.
//
// It is not safe for concurrent use: it belongs to an outbox, and is guarded by the outbox's lock.
type pace struct {
	every   time.Duration
	slots   map[string]*slot
	ready   fifo[*slot] // slots that may be sent now
	cooling fifo[*slot] // slots that were sent, by due time
	held    int         // number of slots in cooling with something to send
}

// slot is one request. A dead slot was removed from the map, but is still in a queue.
type slot struct {
	id      string
	pending *sharedEvent // the newest progress, nil if everything was sent
	cooling bool
	due     time.Time // when it may be sent again; set while cooling
	dead    bool
}

// put keeps e as the newest progress of its request. news reports whether the sender has to be woken: when there is
// much progress, most events only replace one that waits.
func (p *pace) put(id string, e *sharedEvent) (news bool) {
	s := p.slots[id]
	if s == nil {
		if p.slots == nil {
			p.slots = map[string]*slot{}
		}
		s = &slot{id: id}
		p.slots[id] = s
		p.ready.push(s)
	}
	news = s.pending == nil
	if s.cooling && news {
		p.held++
	}
	s.pending = e
	return news
}

// take removes and returns the progress of a request that waits, nil if there is none. The interval still holds for
// later progress of the request.
func (p *pace) take(id string) *sharedEvent {
	s := p.slots[id]
	if s == nil || s.pending == nil {
		return nil
	}
	if s.cooling {
		p.held--
	}
	e := s.pending
	s.pending = nil
	return e
}

// end removes and returns the progress of a request that waits, and forgets the request.
func (p *pace) end(id string) *sharedEvent {
	e := p.take(id)
	if s := p.slots[id]; s != nil {
		s.dead = true
		delete(p.slots, id)
	}
	return e
}

// next removes and returns progress that may be sent at now, nil if there is none. all ignores the interval.
func (p *pace) next(now time.Time, all bool) *sharedEvent {
	for p.cooling.len() > 0 && (all || !p.cooling.peek().due.After(now)) {
		s := p.cooling.pop()
		s.cooling = false
		switch {
		case s.dead:
		case s.pending == nil:
			delete(p.slots, s.id)
		default:
			p.held--
			p.ready.push(s)
		}
	}
	for p.ready.len() > 0 {
		s := p.ready.pop()
		if s.dead {
			continue
		}
		e := s.pending
		s.pending = nil
		s.cooling, s.due = true, now.Add(p.every)
		p.cooling.push(s)
		if e != nil {
			return e
		}
	}
	return nil
}

// due returns when next may return something; ok is false if it will return nothing until the next put. due must be
// called after next has returned nil.
func (p *pace) due() (at time.Time, ok bool) {
	if p.held == 0 {
		return time.Time{}, false
	}
	return p.cooling.peek().due, true
}

// fifo is a queue. Its zero value is empty.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(v T) { q.items = append(q.items, v) }

// peek returns the oldest item. The queue must not be empty.
func (q *fifo[T]) peek() T { return q.items[q.head] }

// pop removes and returns the oldest item. The queue must not be empty. Memory is freed once half of it is unused, so
// that the average cost of an operation is constant.
func (q *fifo[T]) pop() T {
	v := q.items[q.head]
	var zero T
	q.items[q.head] = zero
	q.head++
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > 1024 {
			q.items = nil
		}
	case q.head > 64 && q.head*2 > len(q.items):
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	return v
}
