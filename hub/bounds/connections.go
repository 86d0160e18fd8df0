package bounds

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// Connections bounds the connections of an HTTP server of ours. Where there are too many, the one is ended that has
// waited longest for its client: who holds connections open and says nothing keeps nobody else away. One with a request
// on its way is never ended for another; the new one is, where all have one. Each takes a descriptor of a process that
// must also start servers.
type Connections struct {
	most int

	mu      sync.Mutex
	open    map[net.Conn]*list.Element // nil while there is a request
	waiting *list.List                 // of net.Conn: those without one, the longest first
}

// NewConnections bounds a server by most. [Connections.Noted] is to be its ConnState.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]*list.Element{}, waiting: list.New()}
}

// Noted is told of each change of a connection, by any goroutine; it ends one that is too many.
func (c *Connections) Noted(conn net.Conn, state http.ConnState) {
	if surplus := c.take(conn, state); surplus != nil {
		_ = surplus.Close() // its goroutine says so by the state closed
	}
}

// take is told of a change, and gives a connection that must end.
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
