package allowance

import (
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// releases gives memory back to the system once much of it was let go of: the runtime keeps what it had, for a while
// that has no end when nothing is allocated any more. Safe for concurrent use.
type releases struct {
	free func()

	mu      sync.Mutex // guards what follows
	bytes   int        // let go of since the last time
	planned *time.Timer
	last    time.Time
	closed  bool
}

// note says that so many bytes are no longer held. It costs nothing, and may be called under any lock: what is done
// about it is done later, elsewhere.
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

// run is on a goroutine of its own.
func (r *releases) run() {
	if free := r.due(); free != nil {
		free()
	}
}

// due gives what is to be done now; nil: nothing any more.
func (r *releases) due() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned, r.bytes, r.last = nil, 0, time.Now()
	if r.closed {
		return nil
	}
	return r.free
}

// close plans nothing any more.
func (r *releases) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.planned != nil {
		r.planned.Stop()
	}
}
