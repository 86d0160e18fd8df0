package core

import (
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// timed is one call whose clocks are looked at: time passes from one timer to the next.
type timed struct {
	*State
	t    *testing.T
	call RequestNumber
	now  time.Time
	due  time.Time // of the latest timer
	over *ClockRanOut
}

func newTimed(t *testing.T, idle, total time.Duration) *timed {
	c := &timed{State: New("hub"), t: t, now: start}
	c.apply(WindowShows{"w", allKinds()})
	c.apply(RequestMade{Prefix: "call", Server: 1, Call: true, Idle: idle, Total: total})
	c.call = 1
	return c
}

func (c *timed) apply(e Event) {
	for _, effect := range c.Apply(c.now, e) {
		switch effect := effect.(type) {
		case RequestTimerSet:
			c.due = effect.At
		case ClockRanOut:
			c.over = &effect
		}
	}
}

// pass lets time pass.
func (c *timed) pass(d time.Duration) {
	until := c.now.Add(d)
	for n := 0; c.over == nil && !c.due.IsZero() && !c.due.After(until); n++ {
		if n == 1000 {
			c.t.Fatalf("timers without end: the last one at %v", c.due)
		}
		c.now, c.due = c.due, time.Time{}
		c.apply(RequestTimer{c.call})
	}
	if c.over == nil {
		c.now = until
	}
}

// wantOver lets time pass until a clock runs out, and compares which and when.
func (c *timed) wantOver(after time.Duration, idle bool) {
	c.t.Helper()
	from := c.now
	c.pass(48 * time.Hour)
	switch {
	case (c.over != nil) != (after > 0):
		c.t.Errorf("ran out: %+v, want after %v", c.over, after)
	case c.over != nil && (c.now.Sub(from) != after || c.over.Idle != idle):
		c.t.Errorf("ran out after %v: %+v; want after %v, idle %v", c.now.Sub(from), c.over, after, idle)
	}
}

func TestWhichClockRunsOut(t *testing.T) {
	for name, row := range map[string]struct {
		idle, total time.Duration
		running     bool
		wantIdle    bool
		after       time.Duration // 0: never
	}{
		"idle before total":               {time.Minute, time.Hour, true, true, time.Minute},
		"total before idle":               {time.Hour, time.Minute, true, false, time.Minute},
		"both at once count as the total": {time.Minute, time.Minute, true, false, time.Minute},
		"idle alone":                      {time.Minute, 0, true, true, time.Minute},
		"total alone":                     {0, time.Minute, true, false, time.Minute},
		"idle counts while it runs":       {time.Minute, time.Hour, false, false, time.Hour},
		"idle alone, and it does not run": {time.Minute, 0, false, false, 0},
		"no limit":                        {0, 0, true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTimed(t, row.idle, row.total)
			if row.running {
				c.apply(Looked{Request: c.call, Up: true})
			}
			c.wantOver(row.after, row.wantIdle)
		})
	}
}

// A sign of life sets the idle clock back, and no other. Time in which a person is asked does not count.
func TestClocksStopForPeople(t *testing.T) {
	c := newTimed(t, time.Minute, 10*time.Minute)
	c.apply(Looked{Request: c.call, Up: true})
	c.pass(50 * time.Second)
	c.apply(Progressed{Request: c.call})
	c.pass(50 * time.Second)
	if c.over != nil {
		t.Fatal("a sign of life did not count")
	}
	ask := Asked{Kind: event.PromptElicitationForm, Server: 1, Prefix: "ask", By: 1, Parent: c.call}
	c.apply(ask)
	c.pass(time.Hour)
	c.apply(Answered{Prompt: 1, End: End{Cause: event.CauseAnswered}})
	c.apply(AnswerRead{Request: 2, End: End{Cause: event.CauseAnswered}})
	c.pass(59 * time.Second)
	if c.over != nil {
		t.Fatal("the time of a person counted")
	}
	for range 7 {
		c.apply(Progressed{Request: c.call})
		c.pass(59 * time.Second)
	}
	c.apply(Progressed{Request: c.call})
	c.wantOver(10*time.Minute-100*time.Second-8*59*time.Second, false)
}

// Timers are set anew when they are due, not with each sign of life, of which there may be thousands a second.
func TestSignsOfLifeSetNoTimer(t *testing.T) {
	c := newTimed(t, time.Minute, 0)
	c.apply(Looked{Request: c.call, Up: true})
	c.due = time.Time{}
	for range 1000 {
		c.apply(Progressed{Request: c.call, Shown: true})
		if !c.due.IsZero() {
			t.Fatal("a sign of life has set a timer")
		}
	}
}

func allKinds() (k event.Kinds) {
	for kind := event.PromptToolApproval; kind <= event.PromptConfigInput; kind++ {
		k.Add(kind, true)
	}
	return k
}
