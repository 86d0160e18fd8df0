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

// Answered tells the reader of the body that the request has been answered.
func (tooMuchError) Answered() {}

// limitBodies bounds the memory of the bodies that are being read at the same time, and the time for each, for a
// handler that reads a body completely before it does anything else. Only bytes that were received count, not the
// announced length, and none count before next reads the body, which it does after it has checked the token. A body of
// up to small bytes is always accepted, so that clients with large bodies cannot block ordinary requests.
//
// released is called with the number of bytes of each body that is over.
func limitBodies(total, small int64, released func(bytes int), next http.Handler) http.Handler {
	var taken atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &body{ReadCloser: r.Body, w: w, taken: &taken, total: total, small: small, over: released}
		b.deadline(time.Now().Add(bodyTime))
		defer b.release()
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// body is the body of one request. One goroutine reads it.
type body struct {
	io.ReadCloser
	w            http.ResponseWriter
	taken        *atomic.Int64 // by all bodies
	total, small int64
	mine         int64
	over         func(bytes int)
	released     bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.released {
		return n, err
	}
	b.mine += int64(n)
	if b.taken.Add(int64(n)) > b.total && n > 0 && b.mine > b.small {
		b.release()
		b.w.Header().Set("Retry-After", "1")
		http.Error(b.w, tooMuchError{}.Error(), http.StatusServiceUnavailable)
		return 0, tooMuchError{}
	}
	if err != nil {
		b.release()
	}
	if err == io.EOF {
		b.deadline(time.Time{})
	}
	return n, err
}

// release gives back the bytes that the body has taken. The deadline stays for what is not read yet: net/http takes it
// in after the answer.
func (b *body) release() {
	if !b.released {
		b.released = true
		b.taken.Add(-b.mine)
		b.over(int(b.mine))
	}
}

func (b *body) deadline(t time.Time) {
	// an error is ignored: a writer without deadlines has no network connection either
	_ = http.NewResponseController(b.w).SetReadDeadline(t)
}
