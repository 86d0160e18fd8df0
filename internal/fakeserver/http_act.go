package fakeserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Act describes what the server does with a request in addition to, or instead of, the correct behaviour. The zero
// value changes nothing.
type Act struct {
	// Status answers any request with Status, Header and Body. The message has no effect, unless Handle is set.
	Status int
	Header map[string]string // also sent with a correct answer
	Body   string
	Handle bool // the message takes effect, but is answered with Status

	// Silent means that the message takes effect and is never answered, not even by headers.
	Silent bool
	// Delay and Hold delay the whole answer including its headers. The message takes effect at once. Hold delays until it
	// is closed.
	Delay time.Duration
	Hold  <-chan struct{}

	// JSON and SSE select the form of the answer, regardless of the options.
	JSON, SSE bool
	// EndAfter ends the stream cleanly after this number of events with data, as servers with resumable streams may
	// (2025-11-25); its call goes on. CutAfter breaks the connection after this number, CutBytes after this number of
	// bytes of the body. 0 means never.
	EndAfter, CutAfter, CutBytes int
	// Break breaks the connection without any answer. The message takes effect.
	Break bool

	// Chunk is the maximum number of bytes of a write; Split lists offsets in the body at which a write ends. Every write
	// is flushed.
	Chunk int
	Split []int
	// LineEnd is "\n" if empty. BOM begins the stream with a byte order mark. Comment is written before each event.
	// MultiLine spreads the data of each event over several lines.
	LineEnd   string
	BOM       bool
	Comment   string
	MultiLine bool
}

// act is an Act for the nth request of a kind; n 0 means each of them.
type act struct {
	what string
	n    int
	seen int
	Act
}

// On sets what to do with the nth request of a kind (from 1, counted from this call on; 0 means every one). Kinds are
// "POST tools/call", "POST notifications/cancelled", "POST response", "GET" or "DELETE". If several acts apply to a
// request, the last one that was set counts.
func (h *HTTP) On(what string, n int, a Act) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.acts = append(h.acts, act{what: what, n: n, Act: a})
}

func (h *HTTP) actFor(what string) (found Act) { // called with mu held
	for i := range h.acts {
		a := &h.acts[i]
		if a.what != what {
			continue
		}
		a.seen++
		if a.n == 0 || a.n == a.seen {
			found = a.Act
		}
	}
	return found
}

func (a Act) answers() bool { return a.Status != 0 }

// actOut only answers with the status and body of the act.
func (x *exchange) actOut() { x.plain(x.act.Status, x.act.Header["Content-Type"], x.act.Body) }

// hold waits as the act says and sets its headers. It returns false if the exchange must not go on.
func (x *exchange) hold() bool {
	for name, value := range x.act.Header {
		x.w.Header().Set(name, value)
	}
	if x.act.Break {
		x.abort()
	}
	hold := x.act.Hold
	if x.act.Silent {
		hold = make(chan struct{})
	}
	var delay <-chan time.Time
	if x.act.Delay > 0 {
		t := time.NewTimer(x.act.Delay)
		defer t.Stop()
		delay = t.C
	}
	for hold != nil || delay != nil {
		select {
		case <-hold:
			hold = nil
		case <-delay:
			delay = nil
		case <-x.http.ctx.Done():
			return false
		case <-x.r.Context().Done():
			x.left()
			return false
		}
	}
	return true
}

var errCut = errors.New("fakeserver: the act wants the body to be cut off here")

// shaper writes a body in the form of the act, and flushes each write.
type shaper struct {
	act   Act
	out   *http.ResponseController
	w     http.ResponseWriter
	total int
}

func (x *exchange) shape() *shaper {
	return &shaper{act: x.act, out: http.NewResponseController(x.w), w: x.w}
}

func (s *shaper) write(body string) (int, error) {
	done := 0
	for done < len(body) {
		n := len(body) - done
		if s.act.Chunk > 0 {
			n = min(n, s.act.Chunk)
		}
		for _, at := range slices.Concat(s.act.Split, []int{s.act.CutBytes}) {
			if at > s.total && at < s.total+n {
				n = at - s.total
			}
		}
		if _, err := s.w.Write([]byte(body[done : done+n])); err != nil {
			return done, err
		}
		if err := s.out.Flush(); err != nil {
			return done, err
		}
		done += n
		s.total += n
		if s.act.CutBytes > 0 && s.total >= s.act.CutBytes {
			return done, errCut
		}
	}
	return done, nil
}

// event writes one event. An empty id, name or retry is left out; nil means no data.
func (s *shaper) event(id, name string, retry time.Duration, data []string) error {
	end := s.act.LineEnd
	if end == "" {
		end = "\n"
	}
	var b strings.Builder
	field := func(name, value string) { b.WriteString(name + ": " + value + end) }
	if s.act.BOM && s.total == 0 {
		b.WriteString("\ufeff")
	}
	if s.act.Comment != "" {
		b.WriteString(": " + s.act.Comment + end + end)
	}
	if name != "" {
		field("event", name)
	}
	if id != "" {
		field("id", id)
	}
	if retry > 0 {
		field("retry", decimal(retry.Milliseconds()))
	}
	for _, line := range data {
		field("data", line)
	}
	b.WriteString(end)
	_, err := s.write(b.String())
	return err
}
