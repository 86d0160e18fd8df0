package fakeserver

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// write is the only writer. A failed write ends writing; the reader detects the end by itself.
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

// shutQueue admits nothing more to the queue. drop also drops what is queued.
func (c *conn) shutQueue(drop bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	if drop {
		c.queue = nil
	}
	c.queued.Signal()
}

// answer sends the answer of a call. line is a whole line.
func (c *conn) answer(call *CallContext, line []byte) error {
	if c.web != nil {
		return c.web.send(call, line, true)
	}
	return c.enqueue(line)
}

// send sends any other message: of a call, or of the server itself if call is nil.
func (c *conn) send(call *CallContext, line []byte) error {
	if c.web != nil {
		return c.web.send(call, line, false)
	}
	return c.enqueue(line)
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

func (c *conn) notify(call *CallContext, method string, params json.RawMessage) error {
	if len(params) == 0 {
		return c.send(call, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q}`+"\n", method))
	}
	return c.send(call, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params))
}

// request sends a request with the next id, or the given one. The OutRequest is never nil.
func (c *conn) request(call *CallContext, id json.RawMessage, method, params string) (*OutRequest, error) {
	o := &OutRequest{conn: c, call: call, response: make(chan Message, 1)}
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
		close(o.response) // the first owner of the id gets the answer; an ended connection delivers none
	}
	if ended {
		return o, ErrNotConnected
	}
	if len(params) == 0 {
		return o, c.send(call, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q}`+"\n", id, method))
	}
	return o, c.send(call, around(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":`, id, method), params))
}

// around returns a line with this beginning and a last member that may be large. It copies the member only once, since
// under the race detector a copy of many MiB takes long.
func around(begin, last string) []byte {
	const end = "}\n"
	line := make([]byte, 0, len(begin)+len(last)+len(end))
	return append(append(append(line, begin...), last...), end...)
}
