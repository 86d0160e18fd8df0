// Package clock has the idle and total clocks of one request: what counts, what is left, and when to look. Whether they
// run, what a sign of life is, and what happens when one runs out is package hub's.
package clock

import "time"

// Clock holds the clocks of a request. It is guarded by the lock of whoever owns the request. The zero value has no
// limit.
type Clock struct {
	idle, total time.Duration // limits, 0 = none
	look        func()        // see New
	used        time.Duration // of total, up to since
	since       time.Time     // counting since then; zero = stopped
	sign        time.Time     // last sign of life
	timer       *time.Timer
}

// New makes stopped clocks; 0 is no limit. look is called without the lock when one may have run out: it asks Over.
func New(idle, total time.Duration, look func()) Clock {
	return Clock{idle: idle, total: total, look: look}
}

// Limits gives both limits.
func (c *Clock) Limits() (idle, total time.Duration) { return c.idle, c.total }

// Runs tells whether the clocks count.
func (c *Clock) Runs() bool { return !c.since.IsZero() }

// Run starts the clocks; that they are to run on is a sign of life. idles tells whether the idle clock counts.
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

// Sign is a sign of life. It does not move the timer, which is cheaper at thousands of progress events a second.
func (c *Clock) Sign(now time.Time) { c.sign = now }

// Over tells whether a clock has really run out, and which. If not, it looks again later.
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

// left tells how long until a clock runs out, and which. ok is false when none counts.
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
