package bounds

import (
	"net/http"
	"time"
)

// lingerTime is how long the rest of a body that nobody reads is taken in before the connection is closed: one that is
// closed with unread data is reset, and then the client may lose the answer.
const lingerTime = 500 * time.Millisecond

// LeaveBody makes the answer to a request independent of the request's body, and ends the connection after it. Without
// it net/http reads a body that the handler has not read, for as long as its client likes to take.
func LeaveBody(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTime)) // a recorder in a test has none
	w.Header().Set("Connection", "close")
}

// WithoutBodies serves next, which reads no bodies.
func WithoutBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			LeaveBody(w)
		}
		next.ServeHTTP(w, r)
	})
}
