package ipc

import (
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Bounds of one window's outbox.
const (
	maxQueued      = 8192     // must-deliver events and replies
	maxQueuedBytes = 64 << 20 // payload of them
	maxLogs        = 256      // log messages
	maxLogBytes    = 4 << 20  // payload of them
	maxRate        = 20       // progress events a second for each request
	droppedEvery   = time.Second
)

// outbox is what a window is still to be sent. It is the window's [hub.Sink]: it takes events under the hub's lock, so it neither blocks nor
// converts. One goroutine, run, sends.
//
// Two classes: events that a window must get (and replies) are queued up to a bound, beyond which the window is too slow and ends; the rest gives way:
// progress to newer progress, log messages to a count, the notice of a change to one that says the same and still waits.
type outbox struct {
	sharing *sharing
	failed  chan struct{} // closed when the window became too slow: run may be stuck in a send then
	wake    chan struct{} // holds one token when there may be something new for run

	mu      sync.Mutex // guards all below
	queue   fifo[entry]
	queued  load // of the queue without logs and start
	logs    load // of the log messages in the queue
	pace    pace
	notices map[notice]struct{} // of changes, in the queue
	dropped int64               // log messages not told yet
	tellAt  time.Time           // when they may be told
	state   outboxState
	err     error // what run gives once it is over

	position position // where the stream stands; run alone uses it after begin
}

// outboxState only rises.
type outboxState int

const (
	outboxOpen   outboxState = iota
	outboxEnding             // nothing more comes in; what is there goes out
	outboxOver               // nothing goes out any more
)

// entry is one thing to send: an event or a ready message.
type entry struct {
	event   *sharedEvent
	message *mcphubv1.AttachResponse
	class   class
	size    int
}

type class int

const (
	classMust  class = iota
	classLog         // may be dropped
	classStart       // what the window asked for by attaching; not bounded
)

type load struct{ entries, bytes int }

func (l *load) add(size int)    { l.entries++; l.bytes += size }
func (l *load) remove(size int) { l.entries--; l.bytes -= size }

// newOutbox makes an outbox that collects; begin says what goes first, run sends. rate is the progress rate, 0 = 20 a second.
func newOutbox(s *sharing, rate int32) *outbox {
	if rate <= 0 || rate > maxRate {
		rate = maxRate
	}
	return &outbox{
		sharing: s, failed: make(chan struct{}), wake: make(chan struct{}, 1),
		pace: pace{every: time.Second / time.Duration(rate)},
	}
}

// begin puts the first messages before whatever was delivered since the window was registered. from is the place that the window
// has seen. Call it once, before run.
func (o *outbox) begin(from position, first []entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.position = from
	var q fifo[entry]
	for _, e := range first {
		e.class = classStart
		q.push(e)
	}
	for o.queue.len() > 0 {
		q.push(o.queue.pop())
	}
	o.queue = q
}

// Deliver implements [hub.Sink].
func (o *outbox) Deliver(e hub.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state != outboxOpen {
		return
	}
	shared := o.sharing.of(e)
	switch b := e.Body.(type) {
	case *hub.RequestProgressed:
		o.pace.put(b.RequestID, shared)
	case *hub.LogMessage:
		o.log(shared)
	case *hub.RequestCancelling: // progress from before it would show the request as running again
		o.must(o.pace.take(b.RequestID))
		o.must(shared)
	case *hub.RequestCancelled:
		o.must(o.pace.end(b.RequestID))
		o.must(shared)
	case *hub.RequestFinished:
		o.must(o.pace.end(b.RequestID))
		o.must(shared)
	default:
		if n, ok := noticeOf(b); ok {
			if _, waits := o.notices[n]; waits {
				return
			}
			if o.notices == nil {
				o.notices = make(map[notice]struct{})
			}
			o.notices[n] = struct{}{}
		}
		o.must(shared)
	}
	o.poke()
}

// Closed implements [hub.Sink]: what is there goes out, then the stream ends with err.
func (o *outbox) Closed(err *hub.Error) {
	if err == nil { // a nil *hub.Error in an error would not be nil
		o.finish(nil)
		return
	}
	o.finish(err)
}

// finish lets run send what is there and then end with err.
func (o *outbox) finish(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == outboxOpen {
		o.state, o.err = outboxEnding, err
		o.poke()
	}
}

// abandon lets run end at once.
func (o *outbox) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over(nil)
}

// reply queues the answer to a message of the window.
func (o *outbox) reply(r *mcphubv1.Reply) {
	size := proto.Size(r)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == outboxOpen {
		o.add(entry{message: &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Reply{Reply: r}}, size: size})
		o.poke()
	}
}

// must queues an event that may not be lost; nil is none. o.mu is held.
func (o *outbox) must(e *sharedEvent) {
	if e != nil {
		o.add(entry{event: e, size: hub.PayloadSize(e.event.Body)})
	}
}

// add queues e, or ends a window that is too slow. A single event is taken however large it is: the window could never get it
// otherwise. o.mu is held.
func (o *outbox) add(e entry) {
	if o.state == outboxOver {
		return
	}
	if o.queued.entries >= maxQueued || o.queued.entries > 0 && o.queued.bytes+e.size > maxQueuedBytes {
		o.over(&hub.Error{Code: hub.CodeResourceExhausted, Reason: hub.ReasonWindowTooSlow,
			Message: fmt.Sprintf("the window did not keep up: %d events (%d bytes) wait; attach again with resume", o.queued.entries, o.queued.bytes)})
		close(o.failed)
		return
	}
	o.queued.add(e.size)
	o.queue.push(e)
}

// log queues a log message or counts it as dropped. o.mu is held.
func (o *outbox) log(e *sharedEvent) {
	size := hub.PayloadSize(e.event.Body)
	if o.logs.entries >= maxLogs || o.logs.entries > 0 && o.logs.bytes+size > maxLogBytes {
		o.dropped++
		return
	}
	o.logs.add(size)
	o.queue.push(entry{event: e, class: classLog, size: size})
}

// over is the one way to the last state. o.mu is held.
func (o *outbox) over(err error) {
	if o.state == outboxOver {
		return
	}
	o.state, o.err = outboxOver, err
	o.queue, o.pace, o.notices = fifo[entry]{}, pace{}, nil
	o.poke()
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// failure is why the outbox is over.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
