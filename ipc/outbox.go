package ipc

import (
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// droppedEvery is the shortest interval between two notices of dropped messages.
const droppedEvery = time.Second

// outbox holds what waits to be sent to a window. It is the window's [windows.Sink]: it takes events with the hub's
// lock held, so it neither blocks nor converts them. One goroutine, run, sends them.
//
// Replies, and events that a window must get, are queued up to a bound, and sent first. Beyond the bound the window is
// too slow and is ended. Other events give way: progress to newer progress, log messages to a count, and the notice of
// a change to an equal notice that still waits. When no event waits that the window must get, progress is sent before
// log messages, except that after a few progress events one log message is sent. So log messages delay nothing, and
// progress does not suppress them.
//
// A window must not be ended because a server sends long texts. Questions do not count towards the window's bytes: the
// hub bounds what all servers may have open, and a question that closes before it was sent is not sent at all. Each
// server has a share of the log messages and of the notices. A result that does not fit is left out, as is one that is
// too long.
type outbox struct {
	sharing *sharing
	tooSlow chan struct{} // closed when the window became too slow; run may then be blocked in a send
	wake    chan struct{} // holds one token if there may be something new for run

	mu      sync.Mutex // guards the fields below
	queue   fifo[*entry]
	queued  load               // entries of the queue without questions, notices and start
	account *bounds.Account    // account of what waits except questions and start; a share of the total of all windows
	asked   map[string]*entry  // questions in the queue, by prompt
	voids   int                // number of places in the queue whose question was withdrawn
	logs    fifo[*sharedEvent] // log messages
	logged  shares             // what waits of them
	pace    pace
	paced   int                           // progress events since the last log message
	notices map[notice]struct{}           // notices of changes in the queue
	noticed shares                        // what waits of them
	dropped struct{ logs, notices int64 } // counts that the window has not been sent yet
	tellAt  time.Time                     // when these counts may be sent
	start   int                           // number of messages of the start in the queue; nothing is sent before them
	state   outboxState
	err     error // what run returns once the outbox is over
}

// outboxState is the state of an outbox. It never goes back.
type outboxState int

const (
	outboxOpen   outboxState = iota
	outboxEnding             // no new events are taken; the queued ones are sent
	outboxOver               // nothing more is sent
)

// entry is one message to send: an event, or a message that is already converted.
type entry struct {
	event   *sharedEvent
	message *mcphubv1.AttachResponse
	class   class
	size    int
	counted bool // its size is charged to the account
}

type class int

const (
	classMust     class = iota
	classQuestion       // bounded by the hub
	classNotice         // notice of a change
	classStart          // part of the start, which the window has asked for by attaching; not bounded
)

type load struct{ entries, bytes int }

func (l *load) add(size int)    { l.entries++; l.bytes += size }
func (l *load) remove(size int) { l.entries--; l.bytes -= size }

// newOutbox returns an outbox that only collects events. begin sets what is sent first, and run sends. rate is the
// progress rate; 0 means 20 a second.
func newOutbox(s *sharing, rate int32) *outbox {
	if rate <= 0 || rate > bounds.ProgressRate {
		rate = bounds.ProgressRate
	}
	return &outbox{
		sharing: s, account: s.account(), tooSlow: make(chan struct{}), wake: make(chan struct{}, 1),
		pace: pace{every: time.Second / time.Duration(rate)},
	}
}

// begin puts the first messages before those that were delivered since the window was registered. It is called once,
// before run.
func (o *outbox) begin(first []entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var q fifo[*entry]
	for _, e := range first {
		e.class = classStart
		q.push(&e)
	}
	o.start = len(first)
	for o.queue.len() > 0 {
		q.push(o.queue.pop())
	}
	o.queue = q
}

// Deliver implements [windows.Sink].
func (o *outbox) Deliver(e event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state != outboxOpen {
		return
	}
	shared := o.sharing.of(e)
	switch b := e.Body.(type) {
	case *event.RequestProgressed:
		if !o.pace.put(b.RequestID, shared) {
			return // run need not be woken
		}
	case *event.LogMessage:
		o.log(shared, b)
	case *event.RequestCancelling: // progress from before the cancel would show the request as running again
		o.must(o.pace.take(b.RequestID))
		o.must(shared)
	case *event.RequestCancelled:
		o.must(o.pace.end(b.RequestID))
		o.must(shared)
	case *event.RequestFinished:
		o.must(o.pace.end(b.RequestID))
		if b.Result != "" && !o.room(len(b.Result), bounds.WindowBytes/2) {
			without := *b
			without.Result = ""
			e.Body = &without
			shared = &sharedEvent{convert: o.sharing.convert, event: e}
		}
		o.must(shared)
	case *event.PromptOpened:
		o.ask(b.Prompt.ID, shared)
	case *event.PromptClosed:
		if len(o.asked) == 0 || !o.unask(b.PromptID) {
			o.must(shared)
		}
	default:
		if n, ok := noticeOf(b); ok {
			o.notice(n, shared)
		} else {
			o.must(shared)
		}
	}
	o.poke()
}

// ask queues a question. o.mu is held.
func (o *outbox) ask(id string, e *sharedEvent) {
	if o.asked == nil {
		o.asked = make(map[string]*entry)
	}
	asked := &entry{event: e, class: classQuestion} // without a size: see outbox
	if o.add(asked) {
		o.asked[id] = asked
	}
}

// unask removes a question that was not sent yet. o.mu is held.
func (o *outbox) unask(id string) bool {
	e := o.asked[id]
	if e == nil {
		return false
	}
	delete(o.asked, id)
	e.event = nil
	o.queued.remove(e.size)
	if o.voids++; o.voids > 1024 && o.voids > o.queue.len()/2 {
		o.compact()
	}
	return true
}

// compact removes the places of withdrawn questions from the queue. o.mu is held.
func (o *outbox) compact() {
	var q fifo[*entry]
	for o.queue.len() > 0 {
		if e := o.queue.pop(); e.event != nil || e.message != nil {
			q.push(e)
		}
	}
	o.queue, o.voids = q, 0
}

// notice queues the notice of a change, unless an equal one waits. o.mu is held.
func (o *outbox) notice(n notice, e *sharedEvent) {
	if _, waits := o.notices[n]; waits || o.state == outboxOver {
		return
	}
	size := event.PayloadSize(e.event.Body)
	if !o.noticed.take(n.server, size, load{bounds.WindowNotices, bounds.WindowNoticeBytes}, o.account) {
		o.dropped.notices++
		return
	}
	if o.notices == nil {
		o.notices = make(map[notice]struct{})
	}
	o.notices[n] = struct{}{}
	o.queue.push(&entry{event: e, class: classNotice, size: size})
}

// Closed implements [windows.Sink]: run sends what is queued, and then ends with err.
func (o *outbox) Closed(err *event.Error) {
	if err == nil { // a nil *event.Error in an error would not be nil
		o.finish(nil)
		return
	}
	o.finish(err)
}

// finish makes run send what is queued, and then end with err.
func (o *outbox) finish(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == outboxOpen {
		o.state, o.err = outboxEnding, err
		o.poke()
	}
}

// abandon makes run end at once.
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
		if size > bounds.WindowBytes/16 && !o.room(size, bounds.WindowBytes) {
			// only lists of servers make a reply long
			r = &mcphubv1.Reply{MessageId: r.GetMessageId(), Error: o.sharing.convert.hubError(errReplyTooLong(size))}
			size = proto.Size(r)
		}
		o.add(&entry{message: &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Reply{Reply: r}}, size: size})
		o.poke()
	}
}

func errReplyTooLong(size int) *event.Error {
	return &event.Error{Code: event.CodeResourceExhausted, Reason: event.ReasonBoundExceeded,
		Message: fmt.Sprintf(
			"the answer has %s, which finds no room among what waits for this window (at most %s); ask for one server at a time, or again",
			bounds.Bytes(size), bounds.Bytes(bounds.WindowBytes))}
}

// must queues an event that may not be dropped. It ignores nil. o.mu is held.
func (o *outbox) must(e *sharedEvent) {
	if e != nil {
		o.add(&entry{event: e, size: event.PayloadSize(e.event.Body)})
	}
}

// room reports whether size more bytes fit within limit and within the share of this window, together with those that
// wait. o.mu is held.
func (o *outbox) room(size, limit int) bool {
	if o.queued.bytes+size > limit || o.account.Take(size) != nil {
		return false
	}
	o.account.Give(size)
	return true
}

// add queues e, or ends the window because it is too slow. A single event is queued however large it is, since
// otherwise the window could never get it. o.mu is held.
func (o *outbox) add(e *entry) bool {
	if o.state == outboxOver {
		return false
	}
	e.counted = o.account.Take(e.size) == nil
	if o.queued.entries >= bounds.WindowQueue || o.queued.entries > 0 && !e.counted {
		o.over(&event.Error{Code: event.CodeResourceExhausted, Reason: event.ReasonWindowTooSlow,
			Message: fmt.Sprintf("the window did not keep up: %d events (%d bytes) wait; attach again",
				o.queued.entries, o.queued.bytes)})
		close(o.tooSlow)
		return false
	}
	o.queued.add(e.size)
	o.queue.push(e)
	return true
}

// log queues a log message, or counts it as dropped. If a message of the hub that reports dropped messages is itself
// dropped, the messages that it reports are counted. o.mu is held.
func (o *outbox) log(e *sharedEvent, m *event.LogMessage) {
	if o.logged.take(m.Server, event.PayloadSize(m), load{bounds.WindowLogs, bounds.WindowLogBytes}, o.account) {
		o.logs.push(e)
	} else {
		o.dropped.logs += max(1, m.Dropped)
	}
}

// over moves the outbox to its last state, and frees what it holds. o.mu is held.
func (o *outbox) over(err error) {
	if o.state == outboxOver {
		return
	}
	o.state, o.err = outboxOver, err
	o.queue, o.pace, o.logs, o.asked, o.notices = fifo[*entry]{}, pace{}, fifo[*sharedEvent]{}, nil, nil
	o.account.Close()
	o.poke()
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// failure returns why the outbox is over.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
