package ipc

import (
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// run sends until the outbox is over, and gives why: nil after a plain finish, the error of finish or of the overflow, or that of send.
// Conversion happens here, outside the hub's lock.
func (o *outbox) run(send func(*mcphubv1.AttachResponse) error) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		e, wait, more := o.next(time.Now())
		if !more {
			return o.failure()
		}
		if m := o.message(e); m != nil {
			if err := send(m); err != nil {
				o.abandon()
				return err
			}
			continue
		}
		if e.event != nil { // left out for want of a number
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

// next takes what is to be sent now. When that is nothing, wait tells when to ask again at the latest, 0 = when woken; more is false when
// the outbox is over.
func (o *outbox) next(now time.Time) (e entry, wait time.Duration, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == outboxOver {
		return entry{}, 0, false
	}
	ending := o.state == outboxEnding
	if o.dropped > 0 && (ending || !now.Before(o.tellAt)) {
		n := o.dropped
		o.dropped, o.tellAt = 0, now.Add(droppedEvery)
		return entry{message: &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Dropped{Dropped: &mcphubv1.Dropped{LogMessages: n}}}}, 0, true
	}
	if o.queue.len() > 0 {
		e := o.queue.pop()
		switch e.class {
		case classMust:
			o.queued.remove(e.size)
			if e.event != nil {
				if n, ok := noticeOf(e.event.event.Body); ok {
					delete(o.notices, n)
				}
			}
		case classLog:
			o.logs.remove(e.size)
		}
		return e, 0, true
	}
	if shared := o.pace.next(now, ending); shared != nil {
		return entry{event: shared}, 0, true
	}
	if ending {
		o.over(o.err)
		return entry{}, 0, false
	}
	if at, ok := o.pace.due(); ok {
		wait = max(at.Sub(now), 1)
	}
	if o.dropped > 0 {
		if tell := max(o.tellAt.Sub(now), 1); wait == 0 || tell < wait {
			wait = tell
		}
	}
	return entry{}, wait, true
}

// message gives what goes on the wire for e, with its number; nil when there is nothing.
func (o *outbox) message(e entry) *mcphubv1.AttachResponse {
	if e.event == nil {
		return e.message
	}
	next, ok := o.position.after(e.event.event.Seq)
	if !ok {
		return nil
	}
	o.position = next
	return e.event.numbered(next.sequence())
}
