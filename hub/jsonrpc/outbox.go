package jsonrpc

import (
	"sync"
	"time"
)

// outbox is the write side of a connection: an ordered queue, and one owner of the connection's writing half at a time. A connection that is a
// Sender has neither: each message is handed over at once.
//
// The owner is normally the writer goroutine. When nothing is queued, the goroutine of a caller may own it for one write
// that can not block, and hands over what did not fit. Nobody but the writer goroutine ever waits for the other side.
type outbox struct {
	conn     Conn
	try      TryWriter     // nil when conn is none
	progress WriteProgress // nil when conn is none
	sender   Sender        // nil when conn is none
	limit    int           // of queued bytes
	tap      func(tag any, o Observed)

	stallLimit time.Duration   // <= 0: none
	onStall    func()          // called once
	onError    func(error)     // called once, when writing has failed
	timers     *sync.WaitGroup // counts an armed stall timer

	wake chan struct{} // hands the ownership to the writer goroutine, so it never holds more than one
	stop chan struct{} // closed by close

	mu         sync.Mutex // guards what follows
	head, tail *frame     // queued, unwritten
	bytes      int        // queued or in the hands of the owner
	rest       int        // of these, what the connection kept of a tried frame
	owned      bool       // somebody owns the writing half
	closed     error
	written    uint64        // bytes of finished writes
	idle       chan struct{} // closed and forgotten when nobody owns the writing half any more; nil: nobody waits for that
	stall      stallWatch
}

// frame is one message on its way out.
type frame struct {
	buf        []byte
	about      *tracked // the request that it belongs to, for the tap; nil: nobody is told
	code       int64    // of an error
	kind       Kind
	prev, next *frame
	state      frameState // guarded by outbox.mu
}

type frameState uint8

const (
	frameNew     frameState = iota
	frameQueued             // in the list
	frameTaken              // written, or being written: the other side may have seen it
	frameDropped            // removed before it was written
)

func newFrame(buf []byte) *frame { return &frame{buf: buf} }

// bound tells whether a frame may pass the limit of the queue.
type bound bool

const (
	bounded   bound = true
	unbounded bound = false
)

// writeBatch is how many bytes the writer goroutine takes at once. What it has taken counts as written, so it takes no
// more than a pipe holds.
const writeBatch = 64 << 10

func newOutbox(conn Conn, o Options, timers *sync.WaitGroup, onStall func(), onError func(error)) *outbox {
	b := &outbox{
		conn:       conn,
		limit:      o.WriteQueueBytes,
		tap:        o.Tap,
		stallLimit: o.StallLimit,
		onStall:    onStall,
		onError:    onError,
		timers:     timers,
		wake:       make(chan struct{}, 1),
		stop:       make(chan struct{}),
	}
	b.try, _ = conn.(TryWriter)
	b.progress, _ = conn.(WriteProgress)
	b.sender, _ = conn.(Sender)
	return b
}

// push queues a frame and returns at once. The error is a *QueueFullError or what close was given. A frame that was
// removed before is dropped. m is what a Sender is told beside the message.
func (b *outbox) push(f *frame, limit bound, m OutgoingMessage) error {
	if b.sender != nil {
		return b.hand(f, m)
	}
	b.mu.Lock()
	switch {
	case b.closed != nil:
		defer b.mu.Unlock()
		return b.closed
	case f.state == frameDropped:
		b.mu.Unlock()
		return nil
	case bool(limit) && b.bytes+len(f.buf) > b.limit:
		defer b.mu.Unlock()
		return &QueueFullError{Queued: b.bytes, Size: len(f.buf), Limit: b.limit}
	}
	b.bytes += len(f.buf)
	if b.owned {
		b.append(f)
		b.mu.Unlock()
		return nil
	}
	b.owned = true
	if b.try == nil {
		b.append(f)
		b.mu.Unlock()
		b.wake <- struct{}{}
		return nil
	}
	f.state = frameTaken
	b.mu.Unlock()
	b.tryOne(f)
	return nil
}

// hand gives a frame to the Sender. The lock is held, so that a cancel comes either before, and then nothing is sent, or after the request is with the
// Sender, whom the cancel route tells.
func (b *outbox) hand(f *frame, m OutgoingMessage) error {
	b.mu.Lock()
	if b.closed != nil || f.state == frameDropped {
		defer b.mu.Unlock()
		return b.closed
	}
	b.tell(f, false)
	m.Message, f.buf, f.state = f.buf, nil, frameTaken
	err := b.sender.Send(m)
	b.mu.Unlock()
	if err != nil {
		b.fail(err)
		return &ClosedError{Cause: err}
	}
	return nil
}

// tryOne writes as much of f as the other side takes at once. The caller owns the writing half and gives it up here.
func (b *outbox) tryOne(f *frame) {
	b.tell(f, false)
	taken, done, err := b.try.TryWrite(f.buf)
	if err != nil {
		b.fail(err)
		return
	}
	b.mu.Lock()
	size := len(f.buf)
	switch {
	case b.closed != nil:
		b.mu.Unlock()
		return
	case done:
		b.finished(size)
		f.buf = nil
	case taken == 0:
		b.tell(f, true)
		f.state = frameQueued
		f.next = b.head
		if b.head != nil {
			b.head.prev = f
		} else {
			b.tail = f
		}
		b.head = f
	default:
		b.rest = max(1, size-taken)
		b.finished(size - b.rest)
		f.buf = nil
	}
	b.owned = b.head != nil || b.rest > 0
	owned := b.owned
	if !owned {
		b.rested()
	}
	b.mu.Unlock()
	if owned {
		b.wake <- struct{}{}
	}
}

// remove takes a frame out of the queue, and tells whether it was in time: then it leaves no trace on the wire.
func (b *outbox) remove(f *frame) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch f.state {
	case frameNew, frameDropped:
	case frameQueued:
		b.unlink(f)
		b.bytes -= len(f.buf)
	default:
		return false
	}
	f.state = frameDropped
	f.buf = nil
	return true
}

// close drops what is queued and ends the writer goroutine once the connection lets go of it.
func (b *outbox) close(cause error) {
	b.mu.Lock()
	first := b.drop(cause)
	b.mu.Unlock()
	if first {
		close(b.stop)
	}
}

// fail is close by an error of the connection.
func (b *outbox) fail(err error) {
	b.mu.Lock()
	first := b.drop(&ClosedError{Cause: err})
	b.mu.Unlock()
	if first {
		close(b.stop)
		b.onError(err)
	}
}

// drop is the one transition to closed. Called with mu held.
func (b *outbox) drop(cause error) (first bool) {
	if b.closed != nil {
		return false
	}
	b.closed = cause
	for f := b.head; f != nil; {
		next := f.next
		f.prev, f.next, f.buf, f.state = nil, nil, nil, frameDropped
		f = next
	}
	b.head, b.tail, b.bytes, b.rest = nil, nil, 0, 0
	b.rested()
	b.disarm()
	return true
}

// run is the writer goroutine.
func (b *outbox) run() {
	var batch [][]byte
	for {
		select {
		case <-b.stop:
			return
		case <-b.wake:
		}
		for {
			var size int
			var ok bool
			if batch, size, ok = b.next(batch); !ok {
				break
			}
			err := b.conn.WriteMessages(batch)
			clear(batch)
			batch = batch[:0]
			if err != nil {
				b.fail(err)
				return
			}
			b.mu.Lock()
			b.finished(size)
			b.mu.Unlock()
		}
	}
}

// next takes a batch for writing; false when there is nothing left and the writing half was given up.
func (b *outbox) next(batch [][]byte) (_ [][]byte, size int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		return batch, 0, false
	}
	size, b.rest = b.rest, 0
	ok = size > 0
	for f := b.head; f != nil && (len(batch) == 0 || size+len(f.buf) <= writeBatch); f = b.head {
		b.unlink(f)
		b.tell(f, false)
		batch = append(batch, f.buf)
		size += len(f.buf)
		f.buf = nil
		f.state = frameTaken
		ok = true
	}
	if ok {
		b.arm()
	} else {
		b.owned = false
		b.rested()
	}
	return batch, size, ok
}

// finished accounts for written bytes. Called with mu held.
func (b *outbox) finished(size int) {
	if b.closed == nil {
		b.bytes -= size
		b.written += uint64(size)
	}
}
