package plugin

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

const (
	// levelOff is above every level that is logged.
	levelOff = slog.Level(1 << 10)
	// logTime is hclog's own time format, with microseconds.
	logTime = "2006-01-02T15:04:05.000000Z07:00"
)

// logLevel parses the value of MCPHUB_LOG. An unknown value counts as info, and problem says so.
func logLevel(value string) (level slog.Level, problem string) {
	switch strings.ToLower(value) {
	case "trace", "debug":
		return slog.LevelDebug, ""
	case "", "info":
		return slog.LevelInfo, ""
	case "warn", "warning":
		return slog.LevelWarn, ""
	case "error":
		return slog.LevelError, ""
	case "off":
		return levelOff, ""
	}
	return slog.LevelInfo, handshake.EnvLog + " should be debug, info, warn, error or off; info is used"
}

// newLogger returns a logger that writes one line of JSON for each record, in the format of hclog: a Go host reads
// @level, @message and @timestamp, and requires that each of them is a string.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: hclogShape}))
}

func hclogShape(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	// Only slog's own attributes have these kinds of values under these keys. An attribute of a caller with the same name
	// keeps that name, or at least stays a string.
	switch a.Key {
	case slog.TimeKey:
		if a.Value.Kind() == slog.KindTime {
			return slog.String("@timestamp", a.Value.Time().Format(logTime))
		}
	case slog.LevelKey:
		if level, ok := a.Value.Any().(slog.Level); ok {
			return slog.String("@level", levelName(level))
		}
	case slog.MessageKey:
		if a.Value.Kind() == slog.KindString {
			return slog.String("@message", a.Value.String())
		}
	case "@timestamp", "@level", "@message":
		a.Key = strings.TrimPrefix(a.Key, "@")
	}
	return a
}

func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}

// newPluginLogger returns a logger for go-plugin, which writes through the same writer. The debug lines of go-plugin
// are logged only at debug level.
func newPluginLogger(w io.Writer, level slog.Level) hclog.Logger {
	l := hclog.Info
	switch {
	case level >= levelOff:
		l = hclog.Off
	case level <= slog.LevelDebug:
		l = hclog.Debug
	case level >= slog.LevelError:
		l = hclog.Error
	case level >= slog.LevelWarn:
		l = hclog.Warn
	}
	return hclog.New(&hclog.LoggerOptions{Name: "go-plugin", Level: l, Output: w, JSONFormat: true})
}

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
