package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// pause measures the time during which a person is asked about the server. The server's limits do not count that time.
type pause struct {
	open  int
	since time.Time // when open became 1
	spent time.Duration
}

// Pause notes that a question about the server has opened (by is +1) or closed (-1).
func (s *Server) Pause(now time.Time, by int) {
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

// pauseLook is how often an expired limit checks whether the question has been answered.
const pauseLook = time.Second

// Within returns a context that ends with the cause late after limit (0 for none), not counting the time during which a
// person is asked about the server. The caller must call stop. It takes the lock.
func (s *Server) Within(ctx context.Context, limit time.Duration, late *event.Error) (_ context.Context, stop func()) {
	limited, end := context.WithCancelCause(ctx)
	if limit <= 0 {
		return limited, func() { end(nil) }
	}
	start := time.Now()
	var before time.Duration
	s.table.House.Update(func() { before = s.paused.total(start) })
	var look func()
	var timer *time.Timer
	armed := make(chan struct{})
	look = func() {
		<-armed
		var left time.Duration
		var asking bool
		s.table.House.Update(func() {
			now := time.Now()
			left = limit - (now.Sub(start) - (s.paused.total(now) - before))
			asking = s.paused.open > 0
		})
		switch {
		case limited.Err() != nil: // stop was called
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
