package transport

import (
	"sync"
	"time"
)

// memoryLook is how often the use of memory is looked at. A server is killed when
// two looks in a row find it over its limit: one peak is not a leak.
const memoryLook = time.Second

// memoryWatch looks at all processes of a hub that have a limit, from one goroutine
// that lives only as long as there are any.
type memoryWatch struct {
	every time.Duration
	look  func([]*Process) []footprint

	mu      sync.Mutex
	watched map[*Process]*memoryState // guarded by mu
	quit    chan struct{}             // guarded by mu: closed to end the looker; nil when there is none
	lookers sync.WaitGroup            // Add under mu
}

type memoryState struct {
	limit int64
	over  bool // at the last look; the looker's alone
}

// footprint is what a server uses at one moment.
type footprint struct {
	// resident is the sum over its processes; what they share is counted for each.
	resident int64
	// proportional counts what is shared once. It costs more to find out, so it
	// is asked only of a server that seems to be over its limit.
	proportional func() int64
}

func newMemoryWatch() *memoryWatch {
	return &memoryWatch{every: memoryLook, look: footprints, watched: make(map[*Process]*memoryState)}
}

func (w *memoryWatch) add(p *Process, limit int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched[p] = &memoryState{limit: limit}
	if w.quit == nil {
		quit := make(chan struct{})
		w.quit = quit
		w.lookers.Go(func() { w.run(quit) })
	}
}

func (w *memoryWatch) remove(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.watched, p)
	if len(w.watched) == 0 && w.quit != nil {
		close(w.quit)
		w.quit = nil
	}
}

// close waits for the looker. All processes have been removed before.
func (w *memoryWatch) close() { w.lookers.Wait() }

func (w *memoryWatch) run(quit <-chan struct{}) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			w.once()
		}
	}
}

// once is one look at all.
func (w *memoryWatch) once() {
	w.mu.Lock()
	ps := make([]*Process, 0, len(w.watched))
	states := make([]*memoryState, 0, len(w.watched))
	for p, s := range w.watched {
		ps, states = append(ps, p), append(states, s)
	}
	w.mu.Unlock()
	for i, f := range w.look(ps) {
		s := states[i]
		used := f.resident
		if used > s.limit && f.proportional != nil {
			used = f.proportional()
		}
		if over := used > s.limit; over && s.over {
			ps[i].outgrown(MemoryUse{Limit: s.limit, Used: used})
		} else {
			s.over = over
		}
	}
}

// Memory is what the process and everything that it started use now, in bytes, as
// a sum of what is resident. It is false when that cannot be known: after the
// end, and on systems other than Linux.
func (p *Process) Memory() (int64, bool) {
	if isClosed(p.done) {
		return 0, false
	}
	fs := footprints([]*Process{p})
	if len(fs) == 0 {
		return 0, false
	}
	return fs[0].resident, true
}
