package gateway

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// tooMuchError ends the body of a request that has no room.
type tooMuchError struct{}

func (tooMuchError) Error() string { return "too much is being sent to this gateway at the moment" }

// Answered tells who reads the body that the request is answered.
func (tooMuchError) Answered() {}

// limitBodies bounds what the bodies take that are read at the same time, and the time for each: next reads a body
// whole before it does anything else. What has come counts, not what a client says that it will send; and nothing
// counts before next reads it, which it does when it has looked at the token. A body of up to small bytes has room in
// any case: those who send much keep no ordinary request away.
func limitBodies(total, small int64, next http.Handler) http.Handler {
	var taken atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &body{ReadCloser: r.Body, w: w, taken: &taken, total: total, small: small}
		defer b.done()
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// body is that of one request, which one goroutine reads.
type body struct {
	io.ReadCloser
	w            http.ResponseWriter
	taken        *atomic.Int64 // by all
	total, small int64
	mine         int64
	begun, ended bool
}

func (b *body) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		b.deadline(time.Now().Add(bodyTime))
	}
	n, err := b.ReadCloser.Read(p)
	b.mine += int64(n)
	if b.taken.Add(int64(n)) > b.total && n > 0 && b.mine > b.small {
		b.done()
		b.w.Header().Set("Retry-After", "1")
		http.Error(b.w, tooMuchError{}.Error(), http.StatusServiceUnavailable)
		return 0, tooMuchError{}
	}
	if err != nil {
		b.done()
	}
	return n, err
}

// done gives back what the body has taken.
func (b *body) done() {
	if b.ended {
		return
	}
	b.ended = true
	b.taken.Add(-b.mine)
	if b.begun {
		b.deadline(time.Time{})
	}
}

func (b *body) deadline(t time.Time) {
	_ = http.NewResponseController(b.w).SetReadDeadline(t) // a writer that has no deadlines has no network either
}
