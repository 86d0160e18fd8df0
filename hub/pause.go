package hub

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// pause counts the time in which a person was asked about a server: no limit that a server has runs in it. Guarded by
// Hub.mu.
type pause struct {
	open  int
	since time.Time // when open became 1
	spent time.Duration
}

func (s *server) pause(now time.Time, by int) {
	p := &s.paused
	if p.open == 0 {
		p.since = now
	}
	if p.open += by; p.open == 0 {
		p.spent += now.Sub(p.since)
	}
}

func (p *pause) total(now time.Time) time.Duration {
	if p.open > 0 {
		return p.spent + now.Sub(p.since)
	}
	return p.spent
}

func (h *Hub) pausedUntil(s *server, now time.Time) time.Duration {
	defer h.lock().unlock()
	return s.paused.total(now)
}

// pauseLook is how often a limit that has run out looks whether a person has answered.
const pauseLook = time.Second

// within limits ctx by what a server has for one answer, 0 for no limit; late is its cause then. Time in which a person
// is asked about the server does not count. stop frees it.
func (h *Hub) within(ctx context.Context, s *server, limit time.Duration, late *event.Error) (_ context.Context,
	stop func()) {
	limited, end := context.WithCancelCause(ctx)
	if limit <= 0 {
		return limited, func() { end(nil) }
	}
	start := time.Now()
	before := h.pausedUntil(s, start)
	var look func()
	var timer *time.Timer
	armed := make(chan struct{})
	look = func() {
		<-armed
		var left time.Duration
		var asking bool
		h.update(func() {
			now := time.Now()
			left = limit - (now.Sub(start) - (s.paused.total(now) - before))
			asking = s.paused.open > 0
		})
		switch {
		case limited.Err() != nil: // stopped
		case asking:
			timer.Reset(max(left, pauseLook))
		case left > 0:
			timer.Reset(left)
		default:
			end(late)
		}
	}
	timer = time.AfterFunc(limit, look)
	close(armed)
	return limited, func() {
		end(nil)
		timer.Stop()
	}
}
