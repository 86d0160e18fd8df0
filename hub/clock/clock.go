// Package clock implements the idle and the total clock of one request: what counts, how much time is left, and when to
// check. Package hub decides whether the clocks run, what a sign of life is, and what happens when a clock has run out.
package clock

import "time"

// Clock holds the two clocks of a request. It is guarded by the lock that guards the request. The zero value has no
// limits.
type Clock struct {
	idle, total time.Duration // limits, 0 = none
	look        func()        // see New
	used        time.Duration // time that the total clock has counted up to since
	since       time.Time     // the clocks have counted since then; zero = stopped
	sign        time.Time     // last sign of life
	timer       *time.Timer
}

// New returns stopped clocks; a limit of 0 is no limit. look is called, without the lock, when a clock may have run
// out. It should call Over.
func New(idle, total time.Duration, look func()) Clock {
	return Clock{idle: idle, total: total, look: look}
}

// Limits returns both limits; 0 = none.
func (c *Clock) Limits() (idle, total time.Duration) { return c.idle, c.total }

// Runs reports whether the clocks count.
func (c *Clock) Runs() bool { return !c.since.IsZero() }

// Run starts the clocks. Calling it for running clocks counts as a sign of life. idles says whether the idle clock
// counts.
func (c *Clock) Run(now time.Time, idles bool) {
	if c.idle == 0 && c.total == 0 {
		return
	}
	c.sign = now
	if c.since.IsZero() {
		c.since = now
	}
	d, _, ok := c.left(now, idles)
	switch {
	case !ok:
	case c.timer == nil:
		c.timer = time.AfterFunc(d, c.look)
	default:
		c.timer.Reset(d)
	}
}

// Stop stops the clocks.
func (c *Clock) Stop(now time.Time) {
	if c.since.IsZero() {
		return
	}
	c.used += now.Sub(c.since)
	c.since = time.Time{}
	if c.timer != nil {
		c.timer.Stop()
	}
}

// Sign records a sign of life. It does not reset the timer: that would be too expensive for thousands of progress
// events a second.
func (c *Clock) Sign(now time.Time) { c.sign = now }

// Over reports whether a clock has run out, and whether it is the idle clock. If none has, it sets the timer for the
// next check.
func (c *Clock) Over(now time.Time, idles bool) (idle, over bool) {
	if c.since.IsZero() {
		return false, false
	}
	d, idle, ok := c.left(now, idles)
	if ok && d > 0 {
		c.timer.Reset(d)
	}
	return idle, ok && d <= 0
}

// left returns how long it takes until a clock runs out, and whether it is the idle clock. ok is false if no clock
// counts.
func (c *Clock) left(now time.Time, idles bool) (d time.Duration, idle, ok bool) {
	if c.total > 0 {
		d, ok = c.total-c.used-now.Sub(c.since), true
	}
	if c.idle > 0 && idles {
		if i := c.idle - now.Sub(c.sign); !ok || i < d {
			d, idle, ok = i, true, true
		}
	}
	return d, idle, ok
}
