package jsonrpc

import (
	"runtime"
	"sync"
	"time"
)

// outbox is the write side of a connection: an ordered queue, and one owner of the connection's writing half at a time.
// A connection that is a Sender has neither: each message is passed to it at once.
//
// The owner is normally the writer goroutine. When nothing is queued, the goroutine of a caller may own the writing
// half for one write that can not block, and then leaves what was not accepted to the writer goroutine. Only the writer
// goroutine ever waits for the other side.
//
// When many requests are open, as in a relay, messages that came in one read cause writes by many goroutines. Each
// request and each response is then left to the writer goroutine, which yields first, and writes them together.
type outbox struct {
	conn     Conn
	try      TryWriter     // nil if conn does not implement it
	progress WriteProgress // nil if conn does not implement it
	sender   Sender        // nil if conn does not implement it
	crowded  func() bool   // reports whether other messages are likely to be written soon
	limit    int           // of queued bytes
	tap      func(tag any, o Observed)

	stallLimit time.Duration   // <= 0: none
	onStall    func()          // called once
	onError    func(error)     // called once, when writing has failed
	timers     *sync.WaitGroup // counts an armed stall timer

	wake chan struct{} // passes the ownership to the writer goroutine, so it never holds more than one
	stop chan struct{} // closed by close

	mu         sync.Mutex // guards what follows
	head, tail *frame     // the frames that are queued
	bytes      int        // of the frames that are queued or being written by the owner
	rest       int        // how many of these the connection kept of a frame that TryWrite wrote in part
	partial    *frame     // that frame, if its told is set
	owned      bool       // the writing half has an owner
	closed     error
	written    uint64        // bytes of finished writes
	idle       chan struct{} // closed and set to nil when the writing half has no owner any more; nil: nobody waits
	stall      stallWatch
}

// bound says whether the limit of the queue applies to a frame.
type bound bool

const (
	bounded   bound = true
	unbounded bound = false
)

// writeBatch is how many bytes the writer goroutine takes at once. Bytes that it has taken count as written, so it
// takes no more than a pipe holds.
const writeBatch = 64 << 10

func newOutbox(conn Conn, o Options, crowded func() bool, timers *sync.WaitGroup, onStall func(),
	onError func(error)) *outbox {
	b := &outbox{
		conn:       conn,
		crowded:    crowded,
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

// push queues a frame and returns at once. The error is a *QueueFullError or the error that close was given; told is
// not called then. A frame that was removed before is dropped. m is what a Sender gets beside the message.
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
	if b.try == nil || f.kind != 0 && f.kind != KindNotification && b.crowded() {
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

// backlog returns how many bytes wait to be written.
func (b *outbox) backlog() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// hand passes a frame to the Sender, with mu held: a cancel comes either before, and nothing is sent, or after the
// Sender has the request, and the cancel route tells the Sender.
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
	f.settle(nil)
	return nil
}

// tryOne writes as much of f as the other side accepts at once. The caller owns the writing half; tryOne gives it up or
// passes it to the writer goroutine.
func (b *outbox) tryOne(f *frame) {
	b.tell(f, false)
	taken, done, err := b.try.TryWrite(f.buf)
	if err != nil {
		b.fail(err)
		f.settle(b.why())
		return
	}
	b.mu.Lock()
	size := len(f.buf)
	switch {
	case b.closed != nil:
		err = b.closed
		b.mu.Unlock()
		if done {
			err = nil
		}
		f.settle(err)
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
		if f.told != nil {
			b.partial = f
		}
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
	if done {
		f.settle(nil)
	}
}

// remove removes a frame from the queue, and reports whether it was not written yet. It is then never written.
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

// close drops what is queued, and ends the writer goroutine once the connection unblocks it.
func (b *outbox) close(cause error) {
	b.mu.Lock()
	asked, first := b.drop(cause)
	b.mu.Unlock()
	if first {
		close(b.stop)
	}
	settle(asked, cause)
}

// fail is close after an error of the connection.
func (b *outbox) fail(err error) {
	cause := &ClosedError{Cause: err}
	b.mu.Lock()
	asked, first := b.drop(cause)
	b.mu.Unlock()
	if first {
		close(b.stop)
		b.onError(err)
	}
	settle(asked, cause)
}

// drop is the one transition to closed. Called with mu held. The caller must settle the frames in asked after it has
// released mu.
func (b *outbox) drop(cause error) (asked []*frame, first bool) {
	if b.closed != nil {
		return nil, false
	}
	b.closed = cause
	if b.partial != nil {
		asked = append(asked, b.partial)
		b.partial = nil
	}
	for f := b.head; f != nil; {
		next := f.next
		if f.told != nil {
			asked = append(asked, f)
		}
		f.prev, f.next, f.buf, f.state = nil, nil, nil, frameDropped
		f = next
	}
	b.head, b.tail, b.bytes, b.rest = nil, nil, 0, 0
	b.rested()
	b.disarm()
	return asked, true
}

// run is the writer goroutine.
func (b *outbox) run() {
	var batch [][]byte
	var asked []*frame
	for {
		select {
		case <-b.stop:
			return
		case <-b.wake:
		}
		if b.crowded() {
			runtime.Gosched()
		}
		for {
			var size int
			var ok bool
			if batch, asked, size, ok = b.next(batch, asked[:0]); !ok {
				break
			}
			err := b.conn.WriteMessages(batch)
			clear(batch)
			batch = batch[:0]
			if err != nil {
				b.fail(err)
				settle(asked, b.why())
				return
			}
			b.mu.Lock()
			b.finished(size)
			b.mu.Unlock()
			settle(asked, nil)
			clear(asked)
		}
	}
}

// next takes a batch for writing. ok is false if nothing is left; next has then given up the writing half. asked are
// the frames of the batch whose told is set. They end the batch, so that their report does not wait for the bytes of
// frames that came later.
func (b *outbox) next(batch [][]byte, asked []*frame) (_ [][]byte, _ []*frame, size int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		return batch, asked, 0, false
	}
	size, b.rest = b.rest, 0
	ok = size > 0
	if b.partial != nil {
		asked = append(asked, b.partial)
		b.partial = nil
	}
	for f := b.head; f != nil && (len(batch) == 0 || size+len(f.buf) <= writeBatch); f = b.head {
		if f.told != nil {
			asked = append(asked, f)
		} else if len(asked) > 0 {
			break
		}
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
	return batch, asked, size, ok
}

// finished accounts for written bytes. Called with mu held.
func (b *outbox) finished(size int) {
	if b.closed == nil {
		b.bytes -= size
		b.written += uint64(size)
	}
}
