package transport

import (
	"sync"
	"time"
)

// memoryLook is the interval at which the use of memory is measured. A server is killed if two measurements in a row
// exceed its limit: a single peak is no leak.
const memoryLook = time.Second

// memoryWatch measures all processes of a hub that have a limit. Its goroutine runs only while there is such a process.
type memoryWatch struct {
	every time.Duration
	look  func([]*Process) []footprint

	mu      sync.Mutex
	watched map[*Process]*memoryState // guarded by mu
	quit    chan struct{}             // guarded by mu: closed to end the goroutine; nil if there is none
	lookers sync.WaitGroup            // Add under mu
}

type memoryState struct {
	limit int64
	over  bool // at the last measurement; used by the goroutine alone
}

// footprint is what a server uses at one moment.
type footprint struct {
	// resident is the resident memory of all its processes, in bytes. Shared pages count once for each process.
	resident int64
	// proportional counts shared pages only once. It costs more, so it is called only for a server whose resident memory
	// exceeds the limit.
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

// close waits for the goroutine. All processes must have been removed before.
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

// once measures all processes one time.
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

// Memory returns how much memory the process and everything that it started use now, in bytes, as the sum of their
// resident memory. The result is false if that is unknown: after the end of the process, and on systems other than
// Linux.
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
