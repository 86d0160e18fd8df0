package fakeserver

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Message is one message as it was received: the raw line and its members, decoded one level deep.
type Message struct {
	Raw       string          // the line without its line end
	Conn      int             // number of its connection, from 1
	ID        json.RawMessage // exact JSON text; nil if absent
	Method    string
	Params    json.RawMessage
	Result    json.RawMessage
	Error     *Error
	Malformed bool // the line is not a JSON object
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// IsRequest reports whether the message has a method and an id.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsResponse reports whether the message answers a request of the server: no method, and a result or an error.
func (m Message) IsResponse() bool {
	return m.Method == "" && !m.Malformed && (m.Result != nil || m.Error != nil)
}

// Param returns one member of the params as JSON text, or nil if it is absent.
func (m Message) Param(key string) json.RawMessage { return member(m.Params, key) }

// Method returns a predicate for [Server.Count]: requests and notifications of this method.
func Method(name string) func(Message) bool {
	return func(m Message) bool { return m.Method == name }
}

// ResponseTo returns a predicate for responses to the server's request with this id (exact JSON text).
func ResponseTo(id json.RawMessage) func(Message) bool {
	return func(m Message) bool { return m.IsResponse() && bytes.Equal(m.ID, id) }
}

// CancelOf returns a predicate for notifications/cancelled with this request id (exact JSON text).
func CancelOf(id json.RawMessage) func(Message) bool {
	return func(m Message) bool {
		return m.Method == methodCancelled && bytes.Equal(m.Param("requestId"), id)
	}
}

// Received returns a copy of all messages received so far on all connections, in order.
func (s *Server) Received() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Count returns the number of received messages that match.
func (s *Server) Count(match func(Message) bool) int {
	n := 0
	for _, m := range s.Received() {
		if match(m) {
			n++
		}
	}
	return n
}

func parse(line []byte, conn int) Message {
	m := Message{Raw: string(line), Conn: conn}
	var wire struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if err := json.Unmarshal(line, &wire); err != nil {
		m.Malformed = true
		return m
	}
	m.ID, m.Method, m.Params, m.Result, m.Error = wire.ID, wire.Method, wire.Params, wire.Result, wire.Error
	return m
}

// member returns one member of a JSON object, or nil if it is absent or raw is not an object.
func member(raw json.RawMessage, key string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o[key]
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("fakeserver: " + err.Error()) // a test passed invalid JSON text
	}
	return b
}
