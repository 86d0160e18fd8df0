package ipc

import "time"

// pace coalesces the progress of one window: the newest of a request wins, the first goes out at once, and between two
// of one request lies at least the interval. Every operation costs the same however many requests there are, and none
// of them needs a timer of its own: requests become due in the order in which they were last sent, so that one queue is
// sorted by itself.
//
// Not safe for concurrent use: it belongs to an outbox and is guarded by its lock.
type pace struct {
	every   time.Duration
	slots   map[string]*slot
	ready   fifo[*slot] // may be sent now
	cooling fifo[*slot] // were sent; by due time
	held    int         // slots in cooling with something to send
}

// slot is one request. A dead slot is no longer in the map, but still in a queue.
type slot struct {
	id      string
	pending *sharedEvent // newest, nil when everything was sent
	cooling bool
	due     time.Time // set while cooling
	dead    bool
}

// put keeps e as the newest progress of its request. news tells whether the sender has to be woken: in a storm, most
// events only replace one that waits already.
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

// take removes the progress that waits for a request, nil when there is none. Later progress of it keeps the interval.
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

// end removes the progress that waits for a request, and forgets the request.
func (p *pace) end(id string) *sharedEvent {
	e := p.take(id)
	if s := p.slots[id]; s != nil {
		s.dead = true
		delete(p.slots, id)
	}
	return e
}

// next removes what may be sent at now, nil when there is nothing. all ignores the interval.
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

// due returns when next may return something; ok is false if it will not before the next put. It is called after next
// has returned nil.
func (p *pace) due() (at time.Time, ok bool) {
	if p.held == 0 {
		return time.Time{}, false
	}
	return p.cooling.peek().due, true
}
