package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"
)

// maxAfterEnd bounds how many bytes are still read once the group is gone. It is the capacity of the largest pipe that
// an ordinary user can have on Linux, so nothing that the group wrote is lost, and a process that left the group cannot
// keep the reader for ever by writing on.
const maxAfterEnd = 1 << 20

// pipeReader is the hub's end of the child's stdout or stderr. It has one reader.
// It ends when every writer has closed, or after end was called.
type pipeReader struct {
	f      *os.File
	raw    syscall.RawConn
	closed bool // used by the reader alone
	extra  int  // bytes read since end; used by the reader alone
	ended  atomic.Bool
}

func newPipeReader(f *os.File) *pipeReader {
	raw, err := f.SyscallConn()
	if err != nil {
		raw = nil // the file is already closed; Read says so
	}
	return &pipeReader{f: f, raw: raw}
}

// end makes the reader take what is in the pipe and then report io.EOF, although
// a process outside the group may still hold the other end.
func (r *pipeReader) end() {
	r.ended.Store(true)
	// Wakes a blocked Read. Windows pipes have no deadline; there the job
	// object has closed the other ends.
	_ = r.f.SetReadDeadline(time.Unix(1, 0))
}

func (r *pipeReader) Read(b []byte) (int, error) {
	if r.closed {
		return 0, io.EOF
	}
	if len(b) == 0 {
		return 0, nil
	}
	n, err := r.f.Read(b)
	if r.ended.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		if n, err = 0, io.EOF; r.extra < maxAfterEnd {
			if n = readNow(r.raw, b[:min(len(b), maxAfterEnd-r.extra)]); n > 0 {
				r.extra += n
				return n, nil
			}
		}
	}
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	if err != nil {
		r.closed = true
		_ = r.f.Close()
	}
	return n, err
}

// stderrLog reads the child's stderr line by line and keeps the newest lines.
type stderrLog struct {
	from   *pipeReader
	limit  int // bytes that lines may return, newlines counted
	onLine func(string)

	mu sync.Mutex
	// buf holds whole lines, each with its newline; guarded by mu. It grows to
	// a quarter above limit before the oldest lines are moved out, so that the
	// copying is spread over many lines.
	buf []byte
}

func newStderrLog(from *pipeReader, limit int, onLine func(string)) *stderrLog {
	if limit <= 0 {
		limit = defaultStderrBytes
	}
	return &stderrLog{from: from, limit: limit, onLine: onLine}
}

func (l *stderrLog) end() { l.from.end() }

// read runs until stderr ends.
func (l *stderrLog) read() {
	var (
		chunk = make([]byte, 4<<10)
		line  []byte // the begun line, at most maxStderrLine bytes
		skip  bool   // the line was cut and delivered; its rest is dropped
	)
	for {
		n, err := l.from.Read(chunk)
		for data := chunk[:n]; len(data) > 0; {
			part, rest, whole := bytes.Cut(data, []byte{'\n'})
			data = rest
			if !skip {
				room := maxStderrLine - len(line)
				line = append(line, part[:min(room, len(part))]...)
				if len(part) > room { // reported at once: the end of the line may never come
					l.add(cut(line) + "…")
					line, skip = line[:0], true
				}
			}
			if whole {
				if !skip {
					l.add(clean(line))
				}
				line, skip = line[:0], false
			}
		}
		if err != nil {
			if len(line) > 0 {
				l.add(clean(line))
			}
			return
		}
	}
}

func clean(line []byte) string {
	return strings.ToValidUTF8(string(bytes.TrimSuffix(line, []byte{'\r'})), "\uFFFD")
}

// cut drops the last character when the limit went through the middle of it.
func cut(line []byte) string {
	for i := 1; i < utf8.UTFMax && i <= len(line); i++ {
		if b := line[len(line)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(line[len(line)-i:]) {
				line = line[:len(line)-i]
			}
			break
		}
	}
	return clean(line)
}

func (l *stderrLog) add(line string) {
	l.mu.Lock()
	l.buf = append(append(l.buf, line...), '\n')
	if len(l.buf) > l.limit+l.limit/4 {
		l.buf = append(l.buf[:0], newest(l.buf, l.limit)...)
	}
	l.mu.Unlock()
	if l.onLine != nil {
		l.onLine(line)
	}
}

func (l *stderrLog) lines() []string {
	l.mu.Lock()
	text := string(newest(l.buf, l.limit))
	l.mu.Unlock()
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// newest returns the last whole lines of buf that fit into limit bytes.
func newest(buf []byte, limit int) []byte {
	if len(buf) <= limit {
		return buf
	}
	from := len(buf) - limit
	if buf[from-1] == '\n' {
		return buf[from:]
	}
	return buf[from+bytes.IndexByte(buf[from:], '\n')+1:]
}
