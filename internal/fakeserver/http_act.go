package fakeserver

import (
	"errors"
	"net/http"
	"strings"
)

// Act describes what the server does with a request in addition to, or instead of, the correct behaviour. The zero
// value changes nothing.
type Act struct {
	// Status answers any request with Status, Header and Body. The message has no effect.
	Status int
	Header map[string]string // also sent with a correct answer
	Body   string

	// Silent means that the message takes effect and is never answered, not even by headers.
	Silent bool
	// Hold delays the whole answer including its headers until it is closed. The message takes effect at once.
	Hold <-chan struct{}

	// SSE answers with a stream, regardless of the options.
	SSE bool
	// EndAfter ends the stream cleanly after this number of events with data, as servers with resumable streams may
	// (2025-11-25); its call goes on. CutAfter breaks the connection after this number, CutBytes after this number of
	// bytes of the body. 0 means never.
	EndAfter, CutAfter, CutBytes int
	// Break breaks the connection without any answer. The message takes effect.
	Break bool
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
	if hold == nil {
		return true
	}
	select {
	case <-hold:
		return true
	case <-x.http.ctx.Done():
	case <-x.r.Context().Done():
		x.left()
	}
	return false
}

var errCut = errors.New("fakeserver: the act wants the body to be cut off here")

// shaper writes a body, which it flushes after each write and breaks off where the act says so.
type shaper struct {
	left int // bytes until the end; 0 means no end
	out  *http.ResponseController
	w    http.ResponseWriter
}

func (x *exchange) shape() *shaper {
	return &shaper{left: x.act.CutBytes, out: http.NewResponseController(x.w), w: x.w}
}

func (s *shaper) write(body string) error {
	cut := s.left > 0 && s.left <= len(body)
	if cut {
		body = body[:s.left]
	}
	if _, err := s.w.Write([]byte(body)); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	if cut {
		return errCut
	}
	s.left = max(0, s.left-len(body))
	return nil
}

// event writes one event. An empty id or name is left out.
func (s *shaper) event(id, name, data string) error {
	var b strings.Builder
	for _, field := range [][2]string{{"event", name}, {"id", id}} {
		if field[1] != "" {
			b.WriteString(field[0] + ": " + field[1] + "\n")
		}
	}
	return s.write(b.String() + "data: " + data + "\n\n")
}
