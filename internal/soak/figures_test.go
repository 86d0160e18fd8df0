package soak

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// figures are the results of one subject. All fields except violations are changed only by the goroutine of the test,
// or with the lock of its window.
type figures struct {
	subject *subject
	seed    uint64
	took    time.Duration

	calls, asking                        int // asking: the calls whose tool asks
	cancelled, finished, refused         int
	delivered, received, lost, unclaimed int
	doubled                              int
	// Of the cancelled calls: those whose delivery came after the terminal event, and those whose cancel failed.
	pended, failed                       int
	overtaken                            int // reported as delivered, when the server had just answered
	unread                               int // reported as delivered, when the server had not looked at the call
	outOfOrder                           int // the server was slow and read the cancel before the call
	questions, withdrawn, closedByParent int
	ghosts, leftOpen, nudged             int
	reasons                              map[string]int // how often a cancel failed for a reason

	goroutines, goroutinesMost, goroutinesAfter int
	heapEarly, heapLate                         uint64

	violations
}

// violations are the broken invariants of one subject.
type violations struct {
	mu  sync.Mutex // guards all
	all map[string]*violation
}

type violation struct {
	times    int
	examples []string
}

const mostExamples = 5

// bad records a broken invariant.
func (l *violations) bad(what, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.all[what]
	if v == nil {
		v = &violation{}
		if l.all == nil {
			l.all = map[string]*violation{}
		}
		l.all[what] = v
	}
	if v.times++; len(v.examples) < mostExamples {
		v.examples = append(v.examples, fmt.Sprintf(format, args...))
	}
}

// report fails the test for each broken invariant.
func (l *violations) report(t *testing.T, subject fmt.Stringer, seed uint64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, what := range slices.Sorted(maps.Keys(l.all)) {
		v := l.all[what]
		t.Errorf("%s (-soak.seed %d): %s, %d times:\n\t%s", subject, seed, what, v.times, strings.Join(v.examples, "\n\t"))
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // frees what the first one finalised
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// count notes how much the process holds at rest. filled says that the bounded histories are full.
func (f *figures) count(filled bool) {
	if f.heapEarly == 0 && filled {
		f.heapEarly = heap()
	}
	if n := runtime.NumGoroutine(); f.goroutines == 0 {
		f.goroutines = n
	} else {
		f.goroutinesMost = max(f.goroutinesMost, n)
	}
}

func (f *figures) String() string {
	text := fmt.Sprintf("%-26s %6d calls in %5.1fs, %d that ask: %s", f.name(), f.calls, f.took.Seconds(), f.asking,
		f.outcome())
	if f.goroutines == 0 { // the short form counts nothing of the process
		return text
	}
	return text + fmt.Sprintf("; goroutines %d, most at rest %d, after %d; heap %.1f -> %.1f MiB", f.goroutines,
		f.goroutinesMost, f.goroutinesAfter, mib(f.heapEarly), mib(f.heapLate))
}

func (f *figures) name() string {
	if f.subject == nil {
		return "total"
	}
	return f.subject.String()
}

func (f *figures) outcome() string {
	return fmt.Sprintf(
		"%d cancelled, %d finished, %d refused; cancels: %d delivered (%d told of later), %d failed, %d received, %d lost, %d doubled, %d overtaken by the answer, "+
			"%d of calls not looked at, %d read before a call that was left unread, %d received and not claimed; "+
			"questions: %d, %d withdrawn, %d closed with their call, %d ghosts of unknown calls, %d answered late, %d left open%s",
		f.cancelled, f.finished, f.refused, f.delivered, f.pended, f.failed, f.received, f.lost, f.doubled, f.overtaken,
		f.unread, f.outOfOrder, f.unclaimed,
		f.questions, f.withdrawn, f.closedByParent, f.ghosts, f.nudged, f.leftOpen, f.reasoned())
}

// why counts a reason for a failed cancel.
func (f *figures) why(reason string) {
	if f.reasons == nil {
		f.reasons = map[string]int{}
	}
	f.reasons[reason]++
}

func (f *figures) reasoned() string {
	text := ""
	for _, reason := range slices.Sorted(maps.Keys(f.reasons)) {
		text += fmt.Sprintf("; failed %d times: %s", f.reasons[reason], reason)
	}
	return text
}

// add adds the counts of a subject to a total.
func (f *figures) add(g *figures) {
	for _, c := range []struct {
		to   *int
		from int
	}{
		{&f.calls, g.calls}, {&f.asking, g.asking}, {&f.cancelled, g.cancelled}, {&f.finished, g.finished},
		{&f.refused, g.refused},
		{&f.delivered, g.delivered}, {&f.received, g.received}, {&f.lost, g.lost}, {&f.doubled, g.doubled},
		{&f.unclaimed, g.unclaimed}, {&f.pended, g.pended}, {&f.failed, g.failed},
		{&f.overtaken, g.overtaken}, {&f.unread, g.unread}, {&f.outOfOrder, g.outOfOrder},
		{&f.questions, g.questions}, {&f.withdrawn, g.withdrawn}, {&f.closedByParent, g.closedByParent},
		{&f.ghosts, g.ghosts}, {&f.leftOpen, g.leftOpen}, {&f.nudged, g.nudged},
	} {
		*c.to += c.from
	}
	for reason, n := range g.reasons {
		if f.reasons == nil {
			f.reasons = map[string]int{}
		}
		f.reasons[reason] += n
	}
	if f.goroutines == 0 {
		f.goroutines, f.heapEarly = g.goroutines, g.heapEarly
	}
	f.goroutinesMost, f.goroutinesAfter = max(f.goroutinesMost, g.goroutinesMost), g.goroutinesAfter
	f.heapLate = g.heapLate
	f.took += g.took
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }
