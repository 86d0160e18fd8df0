package jsonrpc

// The queue of an outbox is a linked list of frames, because a cancelled frame is removed from its middle.

// append queues f. Called with mu held.
func (b *outbox) append(f *frame) {
	f.state = frameQueued
	if f.prev = b.tail; b.tail != nil {
		b.tail.next = f
	} else {
		b.head = f
	}
	b.tail = f
}

// unlink removes f from the list. Called with mu held.
func (b *outbox) unlink(f *frame) {
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		b.head = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	} else {
		b.tail = f.prev
	}
	f.prev, f.next = nil, nil
}

// quiet returns a channel that is closed once everything that is queued has been written, or never will be. It returns
// nil if nothing is queued.
func (b *outbox) quiet() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil || !b.owned {
		return nil
	}
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	return b.idle
}

// rested wakes the callers of quiet. Called with mu held.
func (b *outbox) rested() {
	if b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// why returns the error with which the outbox was closed.
func (b *outbox) why() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
