package bounds

import (
	"container/list"
	"net"
	"net/http"
	"sync"
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
	if at := c.open[conn]; at != nil {
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
	if oldest := c.waiting.Front(); len(c.open) > c.most && oldest != nil {
		surplus = c.waiting.Remove(oldest).(net.Conn)
		delete(c.open, surplus)
	}
	return surplus
}
