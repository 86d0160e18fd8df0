package bounds

import (
	"sync"
	"time"
)

// Releases returns memory to the system once much of it was freed. Otherwise the Go runtime keeps it for a while, and
// for ever if nothing is allocated any more. It is safe for concurrent use.
type Releases struct {
	free func()

	mu      sync.Mutex // guards what follows
	bytes   int        // freed since the last time
	planned *time.Timer
	last    time.Time
	closed  bool
}

// NewReleases returns Releases that return memory by free, which is debug.FreeOSMemory outside of tests. The caller
// closes them.
func NewReleases(free func()) *Releases { return &Releases{free: free} }

// Note records that so many bytes are no longer held. It is cheap, and may be called with any lock held: the memory is
// returned later, on another goroutine.
func (r *Releases) Note(bytes int) {
	if bytes <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += bytes
	if r.bytes < ReleasedBytes || r.planned != nil || r.closed {
		return
	}
	wait := max(ReleaseDelay, time.Until(r.last.Add(ReleasePause)))
	r.planned = time.AfterFunc(wait, r.run)
}

// run runs on the goroutine of the timer planned.
func (r *Releases) run() {
	if free := r.due(); free != nil {
		free()
	}
}

// due returns the function to call now, nil after close.
func (r *Releases) due() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned, r.bytes, r.last = nil, 0, time.Now()
	if r.closed {
		return nil
	}
	return r.free
}

// Close stops the planned release. No other is planned after it.
func (r *Releases) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.planned != nil {
		r.planned.Stop()
	}
}
