package plugin

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// maxLogBacklog bounds the bytes that wait for a host that does not read. No burst of log lines in normal operation is
// as long.
const maxLogBacklog = 1 << 20

// logWriter is between the loggers and the standard error that the host reads. A host that stops reading (in a
// debugger, for example) must not block the hub, which logs during calls: Write never blocks. Lines that do not fit are
// dropped and counted, and the count is logged once there is room again.
//
// One Write is one line, as slog and hclog write it.
type logWriter struct {
	out  io.Writer
	wake chan struct{} // buffered

	mu      sync.Mutex
	queue   [][]byte      // guarded by mu
	size    int           // guarded by mu; bytes in queue and in the running write
	dropped int           // guarded by mu; lines since the last report
	idle    chan struct{} // guarded by mu; closed while nothing waits and no write is running
}

// newLogWriter starts the only goroutine that writes. It is never stopped, since a write may block for ever.
func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, wake: make(chan struct{}, 1), idle: make(chan struct{})}
	close(w.idle)
	go w.run()
	return w
}

// Write queues a copy of one line. It never fails and never blocks.
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
			_, _ = w.out.Write(line) // fails if the host is gone, which the lifeline notices
			w.written(len(line))
		}
	}
}

// next removes and returns the oldest line of the queue, nil if there is none.
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

// written records that a line was written, and reports the dropped lines once all lines are written.
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

// flush waits until everything is written, but at most d.
func (w *logWriter) flush(d time.Duration) {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(d):
	}
}
