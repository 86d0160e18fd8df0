package bounds

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// Connections limits the connections of one of the hub's HTTP servers. If there are too many, it closes the connection
// that has waited longest for its client, so that a client that holds connections open and is silent keeps nobody else
// away. It does not close a connection with a running request to make room; if all others have one, it closes the new
// connection. Each connection takes a file descriptor of a process that must also start servers.
type Connections struct {
	most int

	mu      sync.Mutex
	open    map[net.Conn]*list.Element // the element of waiting; nil while the connection has a request
	waiting *list.List                 // the connections (net.Conn) without a request, the longest waiting first
}

// NewConnections returns a limit of most connections. [Connections.Noted] has to be the server's ConnState.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]*list.Element{}, waiting: list.New()}
}

// Noted records a change of a connection, and closes one if there are too many. It may be called concurrently.
func (c *Connections) Noted(conn net.Conn, state http.ConnState) {
	if surplus := c.take(conn, state); surplus != nil {
		_ = surplus.Close() // its goroutine then reports the state closed
	}
}

// take records a change, and returns a connection that must be closed.
func (c *Connections) take(conn net.Conn, state http.ConnState) (surplus net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.open[conn]
	if at != nil {
		c.waiting.Remove(at)
	}
	switch state {
	case http.StateNew, http.StateIdle:
		c.open[conn] = c.waiting.PushBack(conn)
	case http.StateActive:
		c.open[conn] = nil
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
	if len(c.open) <= c.most {
		return nil
	}
	if oldest := c.waiting.Front(); oldest != nil {
		surplus = c.waiting.Remove(oldest).(net.Conn)
	} else if !known {
		surplus = conn
	}
	delete(c.open, surplus)
	return surplus
}

// TokenConnections limits the connections of an HTTP server whose requests carry a token. A connection on which no
// request with the token has come yet is a stranger's. Strangers have places of their own, so that whoever lacks the
// token takes none from whoever has it, and of them the oldest gives way, whatever it is doing: the token comes with
// the first headers.
type TokenConnections struct {
	strangers, clients *Connections

	mu       sync.Mutex
	admitted map[net.Conn]struct{}
}

// NewTokenConnections returns a limit of so many connections with the token, and so many strangers.
// [TokenConnections.Noted] has to be the server's ConnState.
func NewTokenConnections(clients, strangers int) *TokenConnections {
	return &TokenConnections{strangers: NewConnections(strangers), clients: NewConnections(clients),
		admitted: map[net.Conn]struct{}{}}
}

// Noted records a change of a connection, and closes one if there are too many. It may be called concurrently.
func (c *TokenConnections) Noted(conn net.Conn, state http.ConnState) {
	over := state == http.StateClosed || state == http.StateHijacked
	c.mu.Lock()
	_, admitted := c.admitted[conn]
	if over {
		delete(c.admitted, conn)
	}
	c.mu.Unlock()
	switch {
	case admitted:
		c.clients.Noted(conn, state)
	case over || state == http.StateNew: // a stranger's request gives it no right to stay
		c.strangers.Noted(conn, state)
	}
}

// Admit records that a connection has a request with the token. It returns false if there are too many such
// connections, all with running requests. It must be called before the request ends.
func (c *TokenConnections) Admit(conn net.Conn) bool {
	c.mu.Lock()
	_, before := c.admitted[conn]
	c.mu.Unlock()
	if before {
		return true
	}
	surplus := c.clients.take(conn, http.StateActive)
	if surplus == conn {
		return false
	}
	if surplus != nil {
		_ = surplus.Close()
	}
	c.mu.Lock()
	c.admitted[conn] = struct{}{}
	c.mu.Unlock()
	c.strangers.take(conn, http.StateHijacked) // it is no stranger's any more
	return true
}

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
