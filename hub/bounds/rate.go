package bounds

import (
	"sync"
	"time"
)

// Rate is a token bucket: it lets through a number per second, after a burst. It is safe for concurrent use. NewRate
// makes one. A nil Rate lets everything through.
type Rate struct {
	every time.Duration // the time between two, in the long run
	burst int

	mu      sync.Mutex // guards the fields below
	spent   time.Time  // when the bucket will be full again
	dropped int64
	extra   int
}

// NewRate returns a rate of perSecond with a burst of burst.
func NewRate(perSecond, burst int) *Rate {
	return &Rate{every: time.Second / time.Duration(perSecond), burst: burst}
}

// Allow reports whether one more may pass at now. If it may not, it is counted as dropped.
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

// maxCredit bounds the credit that is saved up.
const maxCredit = 1 << 20

// Credit lets n more pass, at any time.
func (r *Rate) Credit(n int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.extra = min(r.extra+n, maxCredit)
}

// Dropped returns how many did not pass since the last call of Dropped.
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
