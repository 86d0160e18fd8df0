package doctor

import (
	"bytes"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Bounds of what is kept, since the server chooses how much it writes.
const (
	keptLines = 5
	lineBytes = 1 << 20 // of a line on stdout; longer lines are not examined
	idBytes   = 256     // of an id; the doctor's own ids are never longer
)

// wire records what a server wrote to its pipes.
type wire struct {
	mu          sync.Mutex
	noise       []string // the first lines on stdout that are not a JSON object or array
	noiseLines  int
	stderrLines int
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

func (w *wire) stderr(string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stderrLines++
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
	if text = bytes.TrimSpace(text); len(text) == 0 {
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
