package doctor

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Bounds of what is kept, since the server chooses how much it writes.
const (
	keptLines  = 5
	keptStderr = 200     // enough for the line above a stack
	lineBytes  = 1 << 20 // of a line on stdout; longer lines are not examined
	idBytes    = 256     // of an id; the doctor's own ids are never longer
)

// wire records what a server wrote to its pipes.
type wire struct {
	mu          sync.Mutex
	noise       []string // the first lines on stdout that are not a JSON object or array
	noiseLines  int
	stderrLines int
	stderrTail  []string // the latest lines; at most keptStderr
	encoding    *encoding
	answers     map[string]time.Time // when each response came, by id as JSON text; at most keptAnswers
	failed      map[string]bool      // the answers that are errors, or results with isError
	withdrawn   map[string]bool      // ids that the server has cancelled
	progress    []time.Time          // when progress came; at most keptAnswers
	changed     chan struct{}        // closed and renewed with each message
}

// keptAnswers bounds the number of recorded responses, withdrawals and progress notifications.
const keptAnswers = 1000

func newWire(f *encoding) *wire {
	return &wire{encoding: f, answers: map[string]time.Time{}, failed: map[string]bool{}, withdrawn: map[string]bool{},
		changed: make(chan struct{})}
}

func (w *wire) stderr(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stderrLines++; len(w.stderrTail) >= keptStderr {
		w.stderrTail = append(w.stderrTail[:0], w.stderrTail[1:]...)
	}
	w.stderrTail = append(w.stderrTail, bounds.Cut(text, bounds.ErrorTextBytes))
}

// saidOnStderr returns what the server wrote to stderr, in the words of a call that fails.
func (w *wire) saidOnStderr() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return mcp.QuoteStderr(w.stderrTail)
}

// encoding counts the messages that are not UTF-8. It is safe for concurrent use.
type encoding struct {
	mu    sync.Mutex
	n     int
	first string
}

func (f *encoding) hear(text []byte) {
	if utf8.Valid(text) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n == 1 {
		f.first = around(text)
	}
}

func (f *encoding) told() (n int, first string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n, f.first
}

// around returns the text around the first byte that is not UTF-8.
func around(text []byte) string {
	const room = 40
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return fmt.Sprintf("%q", text[max(0, at-room):min(len(text), at+room)])
}

// line examines one line of stdout.
func (w *wire) line(text []byte) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	w.encoding.hear(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if text[0] != '{' && text[0] != '[' {
		if w.noiseLines++; len(w.noise) < keptLines {
			w.noise = append(w.noise, bounds.Printable(string(text)))
		}
		return
	}
	close(w.changed)
	w.changed = make(chan struct{})
	method, id := jsontext.String(jsontext.Get(text, "method")), string(jsontext.Get(text, "id"))
	switch {
	case method == "notifications/progress":
		if len(w.progress) < keptAnswers {
			w.progress = append(w.progress, time.Now())
		}
	case method == "notifications/cancelled":
		id = string(jsontext.Get(jsontext.Get(text, "params"), "requestId"))
		if len(w.withdrawn) < keptAnswers && len(id) <= idBytes {
			w.withdrawn[id] = true
		}
	case method == "" && id != "" && len(id) <= idBytes && len(w.answers) < keptAnswers:
		w.answers[id] = time.Now()
		w.failed[id] = jsontext.Get(text, "error") != nil ||
			string(jsontext.Get(jsontext.Get(text, "result"), "isError")) == "true"
	}
}

// next returns a channel that is closed when the next message comes.
func (w *wire) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// answer returns when the request was answered and whether by an error. ok reports whether it was answered.
func (w *wire) answer(id string) (at time.Time, failed, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, ok = w.answers[id]
	return at, w.failed[id], ok
}

// progressAfter returns the number of progress notifications after a moment, and the time of the last one.
func (w *wire) progressAfter(moment time.Time) (n int, last time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.progress {
		if at.After(moment) {
			n, last = n+1, at
		}
	}
	return n, last
}

func (w *wire) hasWithdrawn(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.withdrawn[id]
}

// tap is a reader that passes everything it reads to a wire.
type tap struct {
	from  io.Reader
	wire  *wire
	ended atomic.Bool
	begun []byte // a line whose end has not come; nil while a line that is too long is skipped
	long  bool
}

func (t *tap) Read(b []byte) (int, error) {
	n, err := t.from.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		switch {
		case t.long:
		case len(t.begun)+len(part) > lineBytes:
			t.begun, t.long = nil, true
		default:
			t.begun = append(t.begun, part...)
		}
		if ended {
			if !t.long {
				t.wire.line(t.begun)
			}
			t.begun, t.long = t.begun[:0], false
		}
		rest = after
	}
	if err != nil {
		t.wire.line(t.begun)
		t.begun = nil
		t.ended.Store(true)
	}
	return n, err
}
