package faketime

import "time"

// Pass waits for d of the fake time of its bubble. It returns at once if d is not positive, and panics outside of a
// bubble, where a test would wait by the clock of the machine.
//
// A goroutine of a bubble must not receive from a timer that has run out already: Go 1.26 then executes the timer on
// that goroutine with the race context of the bubble's timers (runtime: timer.maybeRunChan and unlockAndRun), which
// another goroutine may use at the same moment. The race detector crashes in a small part of such runs, as
// "ThreadSanitizer: CHECK failed" or with SIGSEGV. A timer that runs out while a goroutine waits for it is executed by
// the bubble alone.
func Pass(d time.Duration) {
	if time.Now().Year() >= present {
		panic("faketime: Pass outside of a bubble")
	}
	if d > 0 {
		<-time.After(d)
	}
}

// present is later than any test lets a bubble go on: the clock of each starts in 2000.
const present = 2026
