package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/clock"
)

// watched is a clock with a channel for the looks that it calls for. Only the callback runs on another goroutine.
type watched struct {
	clock.Clock
	idles bool
	looks chan struct{}
}

func newWatched(idle, total time.Duration) *watched {
	w := &watched{idles: true, looks: make(chan struct{}, 100)}
	w.Clock = clock.New(idle, total, func() { w.looks <- struct{}{} })
	return w
}

func (w *watched) run()  { w.Run(time.Now(), w.idles) }
func (w *watched) stop() { w.Stop(time.Now()) }

// untilOver lets time pass until a look finds that a clock has run out. It tells which, how long that took, and how
// often somebody looked; over is false when nobody looks within a day.
func (w *watched) untilOver() (idle, over bool, after time.Duration, looks int) {
	from := time.Now()
	for {
		select {
		case <-w.looks:
			looks++
			if idle, over = w.Over(time.Now(), w.idles); over {
				return idle, true, time.Since(from), looks
			}
		case <-time.After(24 * time.Hour):
			return false, false, 0, looks
		}
	}
}

func TestWhichClockRunsOut(t *testing.T) {
	for name, row := range map[string]struct {
		idle, total time.Duration
		idles       bool
		wantIdle    bool
		after       time.Duration // 0: never
	}{
		"idle before total":               {time.Minute, time.Hour, true, true, time.Minute},
		"total before idle":               {time.Hour, time.Minute, true, false, time.Minute},
		"both at once count as the total": {time.Minute, time.Minute, true, false, time.Minute},
		"idle alone":                      {time.Minute, 0, true, true, time.Minute},
		"total alone":                     {0, time.Minute, true, false, time.Minute},
		"idle does not count":             {time.Minute, time.Hour, false, false, time.Hour},
		"idle alone, and does not count":  {time.Minute, 0, false, false, 0},
		"no limit":                        {0, 0, true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatched(row.idle, row.total)
				w.idles = row.idles
				w.run()
				idle, over, after, _ := w.untilOver()
				if over != (row.after > 0) || idle != row.wantIdle || after != row.after {
					t.Errorf("over=%v idle=%v after %s", over, idle, after)
				}
				w.stop()
			})
		})
	}
}

// A sign of life moves no timer: the next look finds it, and looks again when the idle clock may have run out.
func TestSignsOfLifeCostNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(time.Minute, 0)
		w.run()
		for range 59 {
			time.Sleep(time.Second)
			for range 1000 {
				w.Sign(time.Now())
			}
		}
		idle, over, after, looks := w.untilOver()
		if !over || !idle || after != time.Minute || looks != 2 {
			t.Errorf("over=%v idle=%v %s after the last sign of life, with %d looks", over, idle, after, looks)
		}
		w.stop()
	})
}

// What is used of the total adds up over stops; the time between them does not count, and a second run or stop changes
// nothing.
func TestStoppedTimeDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(0, 10*time.Minute)
		w.stop() // never ran
		for range 3 {
			w.run()
			time.Sleep(time.Minute)
			w.run()
			time.Sleep(2 * time.Minute)
			w.stop()
			if w.Runs() {
				t.Fatal("a stopped clock runs")
			}
			time.Sleep(time.Hour)
			w.stop()
			if len(w.looks) > 0 {
				t.Fatal("somebody looks at a stopped clock")
			}
			if _, over := w.Over(time.Now(), true); over {
				t.Fatal("a stopped clock ran out")
			}
		}
		w.run()
		if _, over, after, _ := w.untilOver(); !over || after != time.Minute {
			t.Errorf("over=%v after %s of the minute that was left", over, after)
		}
		w.stop()
	})
}

// Each run is a sign of life: the idle clock starts anew after a person was asked, and when the server gets the
// request.
func TestRunningOnIsASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(time.Minute, 0)
		w.idles = false
		w.run() // it is connecting: idle does not count yet
		time.Sleep(time.Hour)
		w.idles = true
		w.run()
		time.Sleep(50 * time.Second)
		w.stop()
		time.Sleep(time.Hour)
		w.run()
		if idle, over, after, _ := w.untilOver(); !over || !idle || after != time.Minute {
			t.Errorf("over=%v idle=%v after %s", over, idle, after)
		}
		w.stop()
	})
}

// A look that was under way when the clocks were stopped, or were given more time, finds nothing, and looks again in
// time.
func TestLateLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(time.Minute, 0)
		w.run()
		time.Sleep(time.Minute)
		synctest.Wait() // the timer has fired
		w.stop()
		w.run()
		<-w.looks
		if _, over := w.Over(time.Now(), true); over {
			t.Fatal("the look of before the stop ended it")
		}
		if _, over, after, _ := w.untilOver(); !over || after != time.Minute {
			t.Errorf("over=%v after %s", over, after)
		}
		w.stop()
	})
}

func TestZeroClockHasNoLimit(t *testing.T) {
	var c clock.Clock
	c.Run(time.Now(), true)
	c.Sign(time.Now())
	idle, total := c.Limits()
	if _, over := c.Over(time.Now().Add(1000*time.Hour), true); over || c.Runs() || idle != 0 || total != 0 {
		t.Errorf("over=%v, limits %s and %s", over, idle, total)
	}
	c.Stop(time.Now())
}
