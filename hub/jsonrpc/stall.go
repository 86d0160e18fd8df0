package jsonrpc

import "time"

// stallWatch detects that the other side accepts nothing while bytes wait for it. Its timer runs only while the writer
// goroutine is at work, and checks four times in each stall limit.
type stallWatch struct {
	timer *time.Timer
	armed bool // the timer will fire, or is firing; then outbox.timers counts it
	fired bool
	seen  uint64    // progress at the last check
	since time.Time // the last check that saw progress
}

// arm starts the watch. Called with mu held, by the writer goroutine.
func (b *outbox) arm() {
	w := &b.stall
	if w.armed || w.fired || b.stallLimit <= 0 {
		return
	}
	w.armed = true
	w.seen, w.since = b.taken(), time.Now()
	b.timers.Add(1)
	if w.timer == nil {
		w.timer = time.AfterFunc(b.lookIn(), b.look)
	} else {
		w.timer.Reset(b.lookIn())
	}
}

// disarm ends the watch. Called with mu held. A check that is running already sees that the outbox is closed.
func (b *outbox) disarm() {
	if w := &b.stall; w.armed && w.timer.Stop() {
		w.armed = false
		b.timers.Done()
	}
}

// look checks for progress. It runs on the timer's goroutine.
func (b *outbox) look() {
	b.mu.Lock()
	w := &b.stall
	if b.closed == nil && b.owned {
		now := time.Now()
		if taken := b.taken(); taken != w.seen {
			w.seen, w.since = taken, now
		}
		if now.Sub(w.since) < b.stallLimit {
			w.timer.Reset(b.lookIn())
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

func (b *outbox) lookIn() time.Duration { return max(b.stallLimit/4, 1) }

// taken returns how many bytes the other side has accepted. Called with mu held.
func (b *outbox) taken() uint64 {
	if b.progress != nil {
		return b.progress.WriteProgress()
	}
	return b.written
}
