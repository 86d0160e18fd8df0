package fakeserver

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// write is the only writer. A failed write ends writing; the reader notices the end by itself.
func (c *conn) write(w io.Writer) {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.shut {
			c.queued.Wait()
		}
		batch := c.queue
		c.queue = nil
		c.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, b := range batch {
			if _, err := w.Write(b); err != nil {
				c.shutQueue(true)
				return
			}
		}
	}
}

// shutQueue lets nothing more in, and drops what is queued if told so.
func (c *conn) shutQueue(drop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	if drop {
		c.queue = nil
	}
	c.queued.Signal()
}

func (c *conn) enqueue(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut {
		return ErrNotConnected
	}
	c.queue = append(c.queue, b)
	c.queued.Signal()
	return nil
}

func (c *conn) notify(method string, params json.RawMessage) error {
	if len(params) == 0 {
		return c.enqueue(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q}`+"\n", method))
	}
	return c.enqueue(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params))
}

// request sends a request with the next id, or the given one. The OutRequest is never nil.
func (c *conn) request(id json.RawMessage, method string, params json.RawMessage) (*OutRequest, error) {
	o := &OutRequest{conn: c, response: make(chan Message, 1)}
	c.mu.Lock()
	if id == nil {
		id = strconv.AppendInt(nil, c.nextID, 10)
		c.nextID++
	}
	o.ID = id
	_, taken := c.asked[string(id)]
	ended := c.asked == nil
	if !taken && !ended {
		c.asked[string(id)] = o
	}
	c.mu.Unlock()
	if taken || ended {
		close(o.response) // the first owner of the id gets the answer, and an ended connection gives none
	}
	if ended {
		return o, ErrNotConnected
	}
	if len(params) == 0 {
		return o, c.enqueue(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q}`+"\n", id, method))
	}
	return o, c.enqueue(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params))
}
