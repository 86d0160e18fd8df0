package mcp

import (
	"errors"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// streamable is what a link needs of a transport over HTTP: transport.Streamable in both eras, transport.SSE in the
// legacy one.
type streamable interface {
	Exchanges
	// Speak sets the era and the revision of what is sent from now on; "" while initialize is open.
	Speak(modern bool, revision string)
	// Send takes a message over and never blocks; what becomes of it is told by Receive.
	Send(m transport.Message)
	// Receive gives what came, to one goroutine. An error is the end.
	Receive() (transport.Received, error)
	Close() error
}

// streamableLink is a link over t, which it owns.
func streamableLink(t streamable) *Link {
	c := &streamableConn{t: t}
	return &Link{Conn: c, Exchanges: t, Speak: c.speak}
}

// streamableConn makes a connection of jsonrpc of a transport whose messages travel one by one.
type streamableConn struct {
	t      streamable
	modern atomic.Bool

	// Of the reading goroutine.
	source jsonrpc.ID
	read   transport.Received
	hold   *bounds.Hold
}

func (c *streamableConn) speak(era Era, revision string) {
	c.modern.Store(era == Modern)
	c.t.Speak(era == Modern, revision)
}

// Send implements jsonrpc.Sender. The headers that repeat parts of a request belong to the modern era alone.
func (c *streamableConn) Send(m jsonrpc.OutgoingMessage) error {
	out := transport.Message{ID: m.ID.String(), Method: m.Method, Body: m.Message}
	if c.modern.Load() {
		out.Name = requestName(m.Method, m.Message)
		if params, ok := m.Extra.(mirrored); ok {
			out.Params = params
		}
	}
	c.t.Send(out)
	return nil
}

// ReadMessage implements jsonrpc.Conn.
func (c *streamableConn) ReadMessage() ([]byte, error) {
	r, err := c.t.Receive()
	if err != nil {
		return nil, err
	}
	switch {
	case r.FailedID != "":
		return nil, &jsonrpc.CallFailedError{ID: wireID(r.FailedID), Err: r.Err}
	case r.Err != nil:
		return nil, r.Err
	}
	c.source, c.read, c.hold = wireID(r.Stream), r, r.Hold
	return r.Body, nil
}

// Reading implements jsonrpc.Reading: a message is read by the transport, which has to know whom it answers, and not
// again.
func (c *streamableConn) Reading() (m jsontext.Message, kind jsontext.Kind, owned bool) {
	m, kind = c.read.Message, c.read.Kind
	c.read = transport.Received{} // the bytes are its reader's, and not held any longer here
	return m, kind, true
}

// Count implements jsonrpc.Counted. What comes over HTTP counts on HTTPOptions.Results.
func (c *streamableConn) Count(*bounds.Account) {}

// Hold implements jsonrpc.Counted.
func (c *streamableConn) Hold() *bounds.Hold {
	h := c.hold
	c.hold = nil
	return h
}

// Source implements jsonrpc.Sourced.
func (c *streamableConn) Source() jsonrpc.ID { return c.source }

// WriteMessages implements jsonrpc.Conn; nobody calls it, because a Sender is sent to.
func (c *streamableConn) WriteMessages([][]byte) error { return errors.ErrUnsupported }

// Close implements jsonrpc.Conn.
func (c *streamableConn) Close() error { return c.t.Close() }

// wireID reads an id that came back from a transport; zero for "".
func wireID(text string) jsonrpc.ID {
	id, err := jsonrpc.ParseID([]byte(text))
	if err != nil {
		return jsonrpc.ID{}
	}
	return id
}

// requestName is what Mcp-Name says of a request (2026-07-28 basic/transports/streamable-http "Request Metadata";
// ext-tasks for its three methods): the one thing that it is about. It is read from the message itself, so that header
// and body cannot differ.
func requestName(method string, message []byte) string {
	key := ""
	switch method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		key = "taskId"
	default:
		return ""
	}
	return stringOf(member(member(message, "params"), key))
}
