package jsonrpc

// The queue of an outbox: a list of frames, because a cancelled one is taken out of its middle.

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

// unlink takes f out of the list. Called with mu held.
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

// quiet gives a channel that is closed once all that is queued now has been written, or never will be; nil when that is
// so already.
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

// rested wakes who waits in quiet. Called with mu held.
func (b *outbox) rested() {
	if b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// why is what the outbox was closed with.
func (b *outbox) why() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
