package bounds

import (
	"sync"
	"time"
)

// Rate lets through so many a second, after a burst. It is a token bucket. Safe for concurrent use; make it with
// NewRate. A nil Rate lets everything through.
type Rate struct {
	every time.Duration // between two, in the long run
	burst int

	mu      sync.Mutex // guards what follows
	spent   time.Time  // when the bucket will be full again
	dropped int64
	extra   int
}

// NewRate makes a rate of perSecond, with a burst of as many at once.
func NewRate(perSecond, burst int) *Rate {
	return &Rate{every: time.Second / time.Duration(perSecond), burst: burst}
}

// Allow tells whether one more may pass at now. What may not is counted.
func (r *Rate) Allow(now time.Time) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.spent
	if from.Before(now) {
		from = now
	}
	if next := from.Add(r.every); next.Sub(now) <= time.Duration(r.burst)*r.every {
		r.spent = next
		return true
	}
	if r.extra > 0 {
		r.extra--
		return true
	}
	r.dropped++
	return false
}

// maxCredit bounds what is saved up.
const maxCredit = 1 << 20

// Credit lets n more through, whenever they come.
func (r *Rate) Credit(n int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.extra = min(r.extra+n, maxCredit)
}

// Dropped gives how many did not pass since it was asked last.
func (r *Rate) Dropped() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.dropped
	r.dropped = 0
	return n
}
