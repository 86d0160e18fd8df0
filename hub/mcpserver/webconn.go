package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// webConn is the connection of one legacy session over HTTP. Posted messages are read from it, and each outgoing
// message is added to a stream.
type webConn struct {
	in     chan []byte
	done   chan struct{}
	cause  error // set before done is closed
	once   sync.Once
	log    *eventLog
	common *stream // the stream of the GET

	mu         sync.Mutex
	streams    map[jsonrpc.ID]*stream // by the ids of the client's open requests
	unanswered map[*stream]int        // the number of unanswered requests of each stream
	questions  map[jsonrpc.ID]*stream // by the ids of our questions: the stream that has them
	idle       *time.Timer
	busy       int // the number of open exchanges
}

func newWebConn(b Bounds) *webConn {
	c := &webConn{in: make(chan []byte), done: make(chan struct{}), streams: map[jsonrpc.ID]*stream{},
		unanswered: map[*stream]int{}, questions: map[jsonrpc.ID]*stream{}}
	c.log = &eventLog{keepEvents: b.Events, keepBytes: b.EventBytes, queue: b.Queue, streams: map[int]*stream{},
		overflow: func() { c.end(jsonrpc.ErrStalled) }}
	c.common = c.log.open(nil)
	return c
}

// ReadMessage implements jsonrpc.Conn.
func (c *webConn) ReadMessage() ([]byte, error) {
	select {
	case message := <-c.in:
		return message, nil
	case <-c.done:
		return nil, c.cause
	}
}

// WriteMessages implements jsonrpc.Conn. It is never called, because the conn is a Sender.
func (c *webConn) WriteMessages([][]byte) error { return errors.New("mcpserver: not a stream") }

// Close implements jsonrpc.Conn.
func (c *webConn) Close() error {
	c.end(io.EOF)
	return nil
}

func (c *webConn) end(cause error) {
	c.once.Do(func() {
		c.cause = cause
		close(c.done)
	})
}

// post passes on a message that the client has posted. It returns false if the session or ctx has ended.
func (c *webConn) post(ctx context.Context, message []byte) bool {
	select {
	case c.in <- message:
		return true
	case <-c.done:
	case <-ctx.Done():
	}
	return false
}

// Send implements jsonrpc.Sender: a response is added to the stream of its request and ends it, a question to the
// stream of the call to which it belongs.
func (c *webConn) Send(m jsonrpc.OutgoingMessage) error {
	if m.Method != "" {
		of, _ := m.Extra.(jsonrpc.ID)
		st := c.streamToAsk(of)
		c.mu.Lock()
		c.questions[m.ID] = st
		c.mu.Unlock()
		st.push(m.Message, false)
		return nil
	}
	id, err := jsonrpc.ParseID(jsontext.Get(m.Message, "id"))
	if err != nil {
		return nil // an error that belongs to no request: there is no stream for it
	}
	c.endRequest(id, m.Message)
	return nil
}

// endRequest ends a request. message is its answer, or nil if there is none.
func (c *webConn) endRequest(id jsonrpc.ID, message []byte) {
	c.mu.Lock()
	st := c.streams[id]
	delete(c.streams, id)
	last := false
	if st != nil { // a batch has one stream for all its requests
		c.unanswered[st]--
		if last = c.unanswered[st] == 0; last {
			delete(c.unanswered, st)
		}
	}
	c.mu.Unlock()
	if st != nil {
		st.push(message, last)
	}
}

// streamOf returns the stream of a request, or the common one.
func (c *webConn) streamOf(id jsonrpc.ID) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.streams[id]; st != nil {
		return st
	}
	return c.common
}

// streamToAsk returns the stream of a request, or the common one if only that has a reader: a client that has given up
// a call without a cancel, as some do, would never see the question.
func (c *webConn) streamToAsk(id jsonrpc.ID) *stream {
	if st := c.streamOf(id); st.followed() || !c.common.followed() {
		return st
	}
	return c.common
}

// register opens one stream for requests. It returns nil if one of the ids is in use or occurs twice.
func (c *webConn) register(ids []jsonrpc.ID) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, id := range ids { // there are few: a batch is bounded
		if c.streams[id] != nil || slices.Contains(ids[:i], id) {
			return nil
		}
	}
	st := c.log.open(ids)
	for _, id := range ids {
		c.streams[id] = st
	}
	c.unanswered[st] = len(ids)
	return st
}

// enter and leave count exchanges: a session that has none for Bounds.Idle ends.
func (c *webConn) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy++
	c.idle.Stop()
}

func (c *webConn) leave(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	if c.busy == 0 {
		c.idle.Reset(after)
	}
}

// Cancel implements jsonrpc.CancelRoute: the withdrawal of a question is added to the stream that has the question.
func (c *webConn) Cancel(_ *jsonrpc.Peer, id jsonrpc.ID, reason string, told func(error)) {
	c.mu.Lock()
	st := c.questions[id]
	delete(c.questions, id)
	c.mu.Unlock()
	if st == nil || st.ended() {
		st = c.common
	}
	st.push(jsonrpc.CancelNotification(id, reason), false)
	told(nil)
}

// webLink is the link of a legacy session over HTTP.
type webLink struct {
	conn *webConn
	peer *jsonrpc.Peer
}

func (l webLink) tell(of jsonrpc.ID, method string, params json.RawMessage) error {
	l.conn.streamOf(of).push(jsonrpc.NotificationMessage(method, params), false)
	return nil
}

func (l webLink) heard(of jsonrpc.ID) bool { return l.conn.streamToAsk(of).followed() }

func (l webLink) ask(ctx context.Context, of jsonrpc.ID, method string, params json.RawMessage) (json.RawMessage,
	error) {
	call, err := l.peer.BeginAs(method, params, jsonrpc.How{Extra: of})
	if err != nil {
		return nil, err
	}
	defer func() {
		l.conn.mu.Lock()
		delete(l.conn.questions, call.ID())
		l.conn.mu.Unlock()
	}()
	return call.Wait(ctx)
}
