package plugin

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// maxLogBacklog bounds the bytes that wait for a host that does not read: more than any burst of a hub at work.
const maxLogBacklog = 1 << 20

// logWriter stands between the loggers and the host's end of standard error. A host that stops reading (a debugger
// holds it, say) must not hold up the hub, which logs while calls are under way: Write never blocks; what does not fit
// is dropped and counted, and the count is logged once there is room again.
//
// One Write is one line, as slog and hclog do it.
type logWriter struct {
	out  io.Writer
	wake chan struct{} // buffered

	mu      sync.Mutex
	queue   [][]byte      // guarded by mu
	size    int           // guarded by mu; bytes in queue and in the write under way
	dropped int           // guarded by mu; lines since the last report
	idle    chan struct{} // guarded by mu; closed while nothing waits and nothing is being written
}

// newLogWriter starts the one goroutine that writes. It lives as long as the process: it may hang in a write for ever.
func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, wake: make(chan struct{}, 1), idle: make(chan struct{})}
	close(w.idle)
	go w.run()
	return w
}

// Write takes a copy of one line. It never fails and never blocks.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(line) == 0 {
		return 0, nil
	}
	if w.size+len(line) > maxLogBacklog {
		w.dropped++
		return len(line), nil
	}
	if w.size == 0 {
		w.idle = make(chan struct{})
	}
	w.queue = append(w.queue, append([]byte(nil), line...))
	w.size += len(line)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

func (w *logWriter) run() {
	for range w.wake {
		for {
			line := w.next()
			if line == nil {
				break
			}
			_, _ = w.out.Write(line) // a host that is gone reads no logs; the lifeline notices
			w.written(len(line))
		}
	}
}

// next takes the oldest line out of the queue, nil when there is none.
func (w *logWriter) next() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return nil
	}
	line := w.queue[0]
	w.queue = w.queue[1:]
	return line
}

// written notes that a line is out, and reports what was dropped once everything is.
func (w *logWriter) written(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size -= n
	if len(w.queue) > 0 {
		return
	}
	if w.dropped > 0 {
		report := fmt.Appendf(nil,
			`{"@level":"warn","@message":"log lines were dropped, the host did not read","@timestamp":%q,"dropped":%d}`+"\n",
			time.Now().Format(logTime), w.dropped)
		w.dropped = 0
		w.queue = append(w.queue, report)
		w.size += len(report)
		return
	}
	close(w.idle)
}

// flush waits until everything is written, but not longer than d.
func (w *logWriter) flush(d time.Duration) {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(d):
	}
}
