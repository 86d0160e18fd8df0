// Package faketime lets the fake time of a synctest bubble go by, for tests, and bounds waits outside of bubbles.
//
// What must not live here: anything that a test wants to wait for by an event.
package faketime

import (
	"regexp"
	"runtime"
	"strings"
	"time"
)

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

// Long bounds a wait for an event outside of a bubble, so that a test that hangs says what it has waited for. A test
// that passes never waits that long, however busy the machine is: nothing is proved by it, and no shorter one is used.
const Long = 5 * time.Minute

// bubble is in the first line of the stack of a goroutine of a bubble.
var bubble = regexp.MustCompile(`^goroutine \d+ \[.*(synctest bubble \d+)`)

// Goroutines counts the goroutines of the caller's bubble that have a function on their stack whose name contains a
// text. What other tests have left running does not count.
func Goroutines(in string) int {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	stacks := strings.Split(string(buf[:n]), "\n\n")
	own := bubble.FindStringSubmatch(stacks[0]) // the caller's is the first
	if own == nil {
		panic("faketime: Goroutines outside of a bubble")
	}
	count := 0
	for _, stack := range stacks {
		if of := bubble.FindStringSubmatch(stack); of != nil && of[1] == own[1] && strings.Contains(stack, in) {
			count++
		}
	}
	return count
}
