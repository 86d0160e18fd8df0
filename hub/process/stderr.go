package process

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

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
