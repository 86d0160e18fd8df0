package jsonrpc

import (
	"runtime"
	"sync"
	"time"
)

// outbox is the write side of a connection: an ordered queue, and one owner of the stream at a time. A connection that
// is a Sender has neither: each message is passed to it at once.
//
// The owner is normally the writer goroutine. When nothing is queued, the goroutine of a caller may own the stream for
// one write that can not block, and then leaves what was not accepted to the writer goroutine. Only the writer
// goroutine ever waits for the other side.
//
// When many requests are open, as in a relay, messages that came in one read cause writes by many goroutines. Each
// request and each response is then left to the writer goroutine, which yields first, and writes them together.
type outbox struct {
	stream  Stream // nil if the connection is a Sender
	sender  Sender // nil if the connection is a Stream
	opts    Options
	crowded func() bool     // reports whether other messages are likely to be written soon
	onStall func()          // called once
	onError func(error)     // called once, when writing has failed
	timers  *sync.WaitGroup // counts an armed stall timer

	wake chan struct{} // passes the ownership to the writer goroutine, so it never holds more than one
	stop chan struct{} // closed by close

	mu         sync.Mutex // guards what follows
	head, tail *frame     // the queue, a linked list because a cancelled frame is removed from its middle
	bytes      int        // of the frames that are queued or being written by the owner
	owned      bool       // the stream has an owner
	closed     error
	stall      stallWatch
	joined     []byte // the buffer of next
}

// frame is one outgoing message.
type frame struct {
	buf        []byte   // what the stream has not accepted yet; empty for a mark of flushed
	about      *Tracked // the request that it belongs to, for Options.Tap; nil: the tap is not called
	code       int64    // the code of an error
	kind       Kind
	prev, next *frame
	state      frameState  // guarded by outbox.mu
	onWritten  func(error) // see settle; may be nil
}

type frameState uint8

const (
	frameNew     frameState = iota
	frameQueued             // in the queue
	frameTaken              // written, or being written, maybe in part: the other side may have seen it
	frameDropped            // removed before it was written
)

func newFrame(buf []byte) *frame { return &frame{buf: buf} }

// settle calls onWritten, if it is set, with what became of the frame: nil if all of it was written, else the reason
// why it never will be. It is called once for each frame that push accepted, with no lock held.
func (f *frame) settle(err error) {
	if f.onWritten != nil {
		f.onWritten(err)
	}
}

// bound says whether the limit of the queue applies to a frame.
type bound bool

const (
	bounded   bound = true
	unbounded bound = false
)

// writeBatch is how many bytes the writer goroutine takes at once, if one message has no more. Bytes that it has taken
// count as written, so it takes no more than a pipe holds.
const writeBatch = 64 << 10

func newOutbox(conn Conn, o Options, crowded func() bool, timers *sync.WaitGroup, onStall func(),
	onError func(error)) *outbox {
	b := &outbox{
		opts:    o,
		crowded: crowded,
		onStall: onStall,
		onError: onError,
		timers:  timers,
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
	}
	b.stream, _ = conn.(Stream)
	b.sender, _ = conn.(Sender)
	return b
}

// push queues a frame and returns at once. The error is a *QueueFullError or the error that close was given; onWritten
// is not called then. A frame that was removed before is dropped. m is what a Sender gets beside the message.
func (b *outbox) push(f *frame, limit bound, m OutgoingMessage) error {
	if b.sender != nil {
		return b.send(f, m)
	}
	b.mu.Lock()
	switch {
	case b.closed != nil:
		defer b.mu.Unlock()
		return b.closed
	case f.state == frameDropped:
		b.mu.Unlock()
		return nil
	case bool(limit) && b.bytes+len(f.buf) > b.opts.WriteQueueBytes:
		defer b.mu.Unlock()
		return &QueueFullError{Queued: b.bytes, Size: len(f.buf), Limit: b.opts.WriteQueueBytes}
	}
	f.buf = append(f.buf, '\n')
	b.bytes += len(f.buf)
	if b.owned || f.kind != 0 && f.kind != KindNotification && b.crowded() {
		b.queue(f, b.tail)
		wake := !b.owned
		b.owned = true
		b.mu.Unlock()
		if wake {
			b.wake <- struct{}{}
		}
		return nil
	}
	b.owned = true
	f.state = frameTaken
	b.mu.Unlock()
	b.tryOne(f)
	return nil
}

// send passes a frame to the Sender, with mu held: a cancel comes either before, and nothing is sent, or after the
// Sender has the request, and the cancel route tells the Sender.
func (b *outbox) send(f *frame, m OutgoingMessage) error {
	b.mu.Lock()
	if b.closed != nil || f.state == frameDropped {
		defer b.mu.Unlock()
		return b.closed
	}
	b.observe(f, false)
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

// tryOne writes as much of f as the other side accepts at once. The caller owns the stream; tryOne gives it up or
// passes it to the writer goroutine.
func (b *outbox) tryOne(f *frame) {
	b.observe(f, false)
	size := len(f.buf)
	n, err := b.stream.TryWrite(f.buf)
	if err != nil {
		b.fail(err)
		f.settle(b.why())
		return
	}
	b.mu.Lock()
	closed, left := b.closed, false
	if n == 0 && closed == nil {
		b.observe(f, true)
		f.state = frameNew
	}
	if f.buf = f.buf[n:]; n == size {
		f.buf = nil
	}
	if closed == nil {
		if n < size {
			b.queue(f, nil)
		}
		b.bytes -= n
		left = b.head != nil
		b.owned = left
	}
	b.mu.Unlock()
	if left {
		b.wake <- struct{}{}
	}
	if n == size {
		f.settle(nil)
	} else if closed != nil {
		f.settle(closed)
	}
}

// queue puts f behind another frame of the queue, or first if that is nil. A frame that was written in part stays
// taken. Called with mu held.
func (b *outbox) queue(f, behind *frame) {
	if f.state == frameNew {
		f.state = frameQueued
	}
	f.prev, f.next = behind, b.head
	if behind != nil {
		f.next, behind.next = behind.next, f
	} else {
		b.head = f
	}
	if f.next != nil {
		f.next.prev = f
	} else {
		b.tail = f
	}
}

// unlink removes f from the queue. Called with mu held.
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

// remove removes a frame from the queue, and reports whether no part of it was written yet. It is then never written.
func (b *outbox) remove(f *frame) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch f.state {
	case frameTaken:
		return false
	case frameQueued:
		b.unlink(f)
		b.bytes -= len(f.buf)
	}
	f.state, f.buf = frameDropped, nil
	return true
}

// backlog returns how many bytes wait to be written.
func (b *outbox) backlog() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// flushed returns a channel that is closed once everything that is queued now has been written, or never will be. It
// returns nil if nothing is queued.
func (b *outbox) flushed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil || !b.owned {
		return nil
	}
	done := make(chan struct{})
	b.queue(&frame{onWritten: func(error) { close(done) }}, b.tail)
	return done
}

// why returns the error with which the outbox was closed.
func (b *outbox) why() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// fail is close after an error of the connection.
func (b *outbox) fail(err error) {
	if b.close(&ClosedError{Cause: err}) {
		b.onError(err)
	}
}

// close drops what is queued, and ends the writer goroutine once the connection unblocks it. It is the one transition
// to closed, and reports whether it has made it.
func (b *outbox) close(cause error) bool {
	b.mu.Lock()
	if b.closed != nil {
		b.mu.Unlock()
		return false
	}
	b.closed = cause
	dropped := b.head
	for f := dropped; f != nil; f = f.next {
		if f.state == frameQueued {
			f.state = frameDropped
		}
		f.buf = nil
	}
	b.head, b.tail, b.bytes = nil, nil, 0
	b.disarm()
	b.mu.Unlock()
	close(b.stop)
	for f := dropped; f != nil; {
		next := f.next
		f.prev, f.next = nil, nil
		f.settle(cause)
		f = next
	}
	return true
}

// run is the writer goroutine.
func (b *outbox) run() {
	for {
		select {
		case <-b.stop:
			return
		case <-b.wake:
		}
		if b.crowded() {
			runtime.Gosched()
		}
		for batch, last := b.next(); last != nil; batch, last = b.next() {
			if _, err := b.stream.Write(batch); err != nil {
				b.fail(err)
				last.settle(b.why())
				return
			}
			b.mu.Lock()
			if b.closed == nil {
				b.bytes -= len(batch)
			}
			b.mu.Unlock()
			last.settle(nil)
		}
	}
}

// next takes frames from the queue, and returns their bytes and the last of them. A frame with onWritten ends a batch,
// so that its report does not wait for the bytes of frames that came later. last is nil if nothing is queued; next has
// then given up the stream.
func (b *outbox) next() (batch []byte, last *frame) {
	b.mu.Lock()
	defer b.mu.Unlock()
	take := func(f *frame) {
		b.unlink(f)
		if f.state == frameQueued {
			b.observe(f, false)
			f.state = frameTaken
		}
		last = f
	}
	for f := b.head; f != nil && len(b.joined)+len(f.buf) <= writeBatch; f = b.head {
		take(f)
		b.joined = append(b.joined, f.buf...)
		if f.buf = nil; f.onWritten != nil {
			break
		}
	}
	batch, b.joined = b.joined, b.joined[:0]
	if f := b.head; last == nil && f != nil { // too long to be worth a copy
		take(f)
		batch, f.buf = f.buf, nil
	}
	if last != nil {
		b.arm()
	} else {
		b.owned = false
	}
	return batch, last
}

// observe reports to Options.Tap that a frame is being written, before the write, because an answer can come before the
// write has returned.
func (b *outbox) observe(f *frame, unwritten bool) {
	if b.opts.Tap == nil || f.about == nil || f.about.tag == nil {
		return
	}
	size := len(f.buf)
	if b.stream != nil {
		size-- // the line break
	}
	b.opts.Tap(f.about.tag, Observed{Sender: Outgoing, Kind: f.kind, Method: f.about.Method, ID: f.about.ID, Bytes: size,
		Code: f.code, Unwritten: unwritten})
}

// stallWatch detects that the other side accepts nothing while bytes wait for it. Its timer runs only while the writer
// goroutine is at work, and checks four times in each stall limit.
type stallWatch struct {
	timer *time.Timer
	armed bool // the timer will fire, or is firing; then outbox.timers counts it
	fired bool
	seen  uint64    // Stream.Written at the last check
	since time.Time // the last check that saw progress
}

// arm starts the watch. Called with mu held, by the writer goroutine.
func (b *outbox) arm() {
	w := &b.stall
	if w.armed || w.fired || b.opts.StallLimit <= 0 {
		return
	}
	w.armed = true
	w.seen, w.since = b.stream.Written(), time.Now()
	b.timers.Add(1)
	if w.timer == nil {
		w.timer = time.AfterFunc(b.checkEvery(), b.check)
	} else {
		w.timer.Reset(b.checkEvery())
	}
}

// disarm ends the watch. Called with mu held. A check that is running already sees that the outbox is closed.
func (b *outbox) disarm() {
	if w := &b.stall; w.armed && w.timer.Stop() {
		w.armed = false
		b.timers.Done()
	}
}

// check looks for progress. It runs on the timer's goroutine.
func (b *outbox) check() {
	b.mu.Lock()
	w := &b.stall
	if b.closed == nil && b.owned {
		now := time.Now()
		if written := b.stream.Written(); written != w.seen {
			w.seen, w.since = written, now
		}
		if now.Sub(w.since) < b.opts.StallLimit {
			w.timer.Reset(b.checkEvery())
			b.mu.Unlock()
			return
		}
		w.fired = true
	}
	w.armed = false
	stalled := w.fired
	b.mu.Unlock()
	b.timers.Done()
	if stalled {
		b.onStall()
	}
}

func (b *outbox) checkEvery() time.Duration { return max(b.opts.StallLimit/4, 1) }
