package ipc

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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
