package core

import "time"

// clock holds the idle and the total clock of a request. The zero value has no limits.
type clock struct {
	idle, total time.Duration // limits, 0 = none
	used        time.Duration // that the total clock has counted up to since
	since       time.Time     // the clocks have counted since then; zero = stopped
	sign        time.Time     // last sign of life
	due         time.Time     // when the timer fires; zero = it is not set
}

// run starts the clocks. Calling it for running clocks counts as a sign of life. idles says whether the idle clock
// counts. set reports that the timer has to be set to due.
func (c *clock) run(now time.Time, idles bool) (set bool) {
	if c.idle == 0 && c.total == 0 {
		return false
	}
	c.sign = now
	if c.since.IsZero() {
		c.since = now
	}
	return c.arm(now, idles)
}

// arm says when the timer has to fire. One that fires too early is set anew then: that is cheaper than to set it for
// each of thousands of signs of life a second.
func (c *clock) arm(now time.Time, idles bool) (set bool) {
	left, _, ok := c.left(now, idles)
	if at := now.Add(left); ok && (c.due.IsZero() || at.Before(c.due)) {
		c.due = at
		return true
	}
	return false
}

// stop stops the clocks.
func (c *clock) stop(now time.Time) {
	if !c.since.IsZero() {
		c.used += now.Sub(c.since)
		c.since = time.Time{}
	}
}

// left returns how long it takes until a clock runs out, and whether it is the idle clock. ok is false if no clock
// counts.
func (c *clock) left(now time.Time, idles bool) (left time.Duration, idle, ok bool) {
	if c.since.IsZero() {
		return 0, false, false
	}
	if c.total > 0 {
		left, ok = c.total-c.used-now.Sub(c.since), true
	}
	if c.idle > 0 && idles {
		if i := c.idle - now.Sub(c.sign); !ok || i < left {
			left, idle, ok = i, true, true
		}
	}
	return left, idle, ok
}

// wind starts or stops r's clocks after a change of its state or of the questions that it waits for. Human time stops
// both (2025-11-25 lifecycle "Timeouts", SEP-2260: a nested prompt extends its call by human time).
func (s *State) wind(r *request) {
	if !r.counts() {
		r.clock.stop(s.now)
		return
	}
	// Also on the way from queued or connecting to running: from then on the server has the request.
	if r.clock.run(s.now, r.idles()) {
		s.do(RequestTimerSet{r.n, r.clock.due})
	}
}

// requestTimer ends r if one of its clocks has run out.
func (s *State) requestTimer(n RequestNumber) {
	r := s.requests[n]
	if r == nil {
		return
	}
	r.clock.due = time.Time{}
	left, idle, ok := r.clock.left(s.now, r.idles())
	switch {
	case !ok:
	case left > 0:
		r.clock.arm(s.now, r.idles())
		s.do(RequestTimerSet{r.n, r.clock.due})
	case r.start:
		s.do(StartExpired{r.n})
	case idle:
		s.do(ClockRanOut{Request: r.n, Idle: true, Limit: r.clock.idle})
	default:
		s.do(ClockRanOut{Request: r.n, Limit: r.clock.total})
	}
}
