package allowance

import (
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// releases returns memory to the system once much of it was freed. Otherwise the Go runtime keeps it for a while, and
// for ever if nothing is allocated any more. It is safe for concurrent use.
type releases struct {
	free func()

	mu      sync.Mutex // guards what follows
	bytes   int        // freed since the last time
	planned *time.Timer
	last    time.Time
	closed  bool
}

// note records that so many bytes are no longer held. It is cheap, and may be called with any lock held: the memory is
// returned later, on another goroutine.
func (r *releases) note(bytes int) {
	if bytes <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += bytes
	if r.bytes < bounds.ReleasedBytes || r.planned != nil || r.closed {
		return
	}
	wait := max(bounds.ReleaseDelay, time.Until(r.last.Add(bounds.ReleasePause)))
	r.planned = time.AfterFunc(wait, r.run)
}

// run runs on the goroutine of the timer planned.
func (r *releases) run() {
	if free := r.due(); free != nil {
		free()
	}
}

// due returns the function to call now, nil after close.
func (r *releases) due() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned, r.bytes, r.last = nil, 0, time.Now()
	if r.closed {
		return nil
	}
	return r.free
}

// close stops the planned release. No other is planned after it.
func (r *releases) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.planned != nil {
		r.planned.Stop()
	}
}
