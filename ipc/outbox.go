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

// outbox holds what waits to be sent to a window. It is the window's [hub.Sink]: it takes events with the hub's
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

// Deliver implements [hub.Sink].
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

// Closed implements [hub.Sink]: run sends what is queued, and then ends with err.
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

// run sends until the outbox is over. It returns nil after finish(nil), otherwise the error of finish, of the overflow,
// or of send. It converts the events, since it runs without the hub's lock.
func (o *outbox) run(send func(*mcphubv1.AttachResponse) error) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		e, wait, more := o.next(time.Now())
		if !more {
			return o.failure()
		}
		if m := e.converted(); m != nil {
			if err := send(m); err != nil {
				o.abandon()
				return err
			}
			continue
		}
		var due <-chan time.Time
		if wait > 0 {
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case <-o.wake:
			timer.Stop()
		case <-due:
		}
	}
}

// next returns what is to be sent now. If there is nothing, wait is the time after which next is to be called again, 0
// if only after a wake-up. more is false if the outbox is over.
func (o *outbox) next(now time.Time) (e entry, wait time.Duration, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == outboxOver {
		return entry{}, 0, false
	}
	ending := o.state == outboxEnding
	if o.start == 0 && o.lost() && (ending || !now.Before(o.tellAt)) {
		told := &mcphubv1.Dropped{LogMessages: o.dropped.logs, Notices: o.dropped.notices}
		o.dropped.logs, o.dropped.notices = 0, 0
		o.tellAt = now.Add(droppedEvery)
		return entry{message: &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Dropped{Dropped: told}}}, 0, true
	}
	for o.queue.len() > 0 {
		if e := o.pop(); e != nil {
			return *e, 0, true
		}
	}
	if o.paced < progressPerLog || o.logs.len() == 0 {
		if shared := o.pace.next(now, ending); shared != nil {
			o.paced++
			return entry{event: shared}, 0, true
		}
	}
	if o.logs.len() > 0 {
		o.paced = 0
		shared := o.logs.pop()
		if m, ok := shared.event.Body.(*event.LogMessage); ok {
			o.logged.give(m.Server, event.PayloadSize(m), o.account)
		}
		return entry{event: shared}, 0, true
	}
	if ending {
		o.over(o.err)
		return entry{}, 0, false
	}
	if at, ok := o.pace.due(); ok {
		wait = max(at.Sub(now), 1)
	}
	if o.lost() {
		if tell := max(o.tellAt.Sub(now), 1); wait == 0 || tell < wait {
			wait = tell
		}
	}
	return entry{}, wait, true
}

// progressPerLog is how many progress events are sent before a log message that waits.
const progressPerLog = 4

// lost reports whether something was dropped that the window has not been told about. o.mu is held.
func (o *outbox) lost() bool { return o.dropped.logs > 0 || o.dropped.notices > 0 }

// pop removes and returns the oldest entry of the queue, nil if its question was withdrawn. o.mu is held.
func (o *outbox) pop() *entry {
	e := o.queue.pop()
	if e.event == nil && e.message == nil {
		o.voids--
		return nil
	}
	switch e.class {
	case classStart:
		o.start--
	case classMust:
		o.queued.remove(e.size)
		if e.counted {
			o.account.Give(e.size)
		}
	case classQuestion:
		o.queued.remove(e.size)
		if opened, ok := e.event.event.Body.(*event.PromptOpened); ok {
			delete(o.asked, opened.Prompt.ID)
		}
	case classNotice:
		if n, ok := noticeOf(e.event.event.Body); ok {
			delete(o.notices, n)
			o.noticed.give(n.server, e.size, o.account)
		}
	}
	return e
}

// converted returns the message for e, nil if there is nothing to send.
func (e *entry) converted() *mcphubv1.AttachResponse {
	if e.event == nil {
		return e.message
	}
	return e.event.converted()
}

// shares counts what waits for a window of one kind, by server. One server may have a quarter of it. The zero value is
// empty.
type shares struct {
	all load
	of  map[string]load
}

// take counts one more entry of a server, and takes its size from on. It returns false, and counts nothing, if that
// exceeds a quarter of most for the server, most for all, or what on has left.
func (s *shares) take(server string, size int, most load, on *bounds.Account) bool {
	mine := s.of[server]
	mine.add(size)
	if mine.entries > most.entries/4 || mine.bytes > most.bytes/4 || s.all.entries >= most.entries ||
		s.all.bytes+size > most.bytes || on.Take(size) != nil {
		return false
	}
	if s.of == nil {
		s.of = make(map[string]load)
	}
	s.of[server] = mine
	s.all.add(size)
	return true
}

// give reverses one take.
func (s *shares) give(server string, size int, on *bounds.Account) {
	mine := s.of[server]
	mine.remove(size)
	if mine.entries == 0 {
		delete(s.of, server)
	} else {
		s.of[server] = mine
	}
	s.all.remove(size)
	on.Give(size)
}

// notice identifies an event that only makes windows look again. A second, equal one adds nothing.
type notice struct{ kind, server, uri string }

// noticeOf returns the notice of b; ok is false if b is another kind of event.
func noticeOf(b event.Body) (n notice, ok bool) {
	switch b := b.(type) {
	case *event.ToolsChanged:
		return notice{kind: "tools", server: b.Server}, true
	case *event.ResourcesChanged:
		return notice{kind: "resources", server: b.Server}, true
	case *event.McpPromptsChanged:
		return notice{kind: "prompts", server: b.Server}, true
	case *event.ResourceUpdated:
		return notice{kind: "updated", server: b.Server, uri: b.URI}, true
	}
	return notice{}, false
}
