package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

const methodCancelled = "notifications/cancelled"

// Bounds of what is kept of a client's texts.
const (
	idBytes   = 256
	textBytes = 200
)

// wire turns the messages of one connection into events. It keeps the cancel of a tool call from the server's half,
// which would not answer the call: the play answers it late, as real servers do. All methods are safe for concurrent
// use.
type wire struct {
	record func(Event)

	mu    sync.Mutex
	late  func() // is called after a late answer was written; it must not block
	spoke bool
	hello *Event          // of the initialize that waits for its answer
	calls map[string]call // the open tool calls, by id
}

// call is a tool call whose context ends when the client cancels it, and only then.
type call struct {
	context.Context
	cancel context.CancelCauseFunc
}

// errCancelled is the cause with which a call ends that the client has cancelled.
var errCancelled = errors.New("the client cancelled the call")

func newWire(record func(Event), transport string) *wire {
	record(Event{Kind: Opened, Transport: transport})
	return &wire{record: record, calls: map[string]call{}}
}

// heard takes what the client has sent. It returns true if the message must not reach the server's half.
func (w *wire) heard(text []byte) (kept bool) {
	var reader jsontext.Reader
	var m jsontext.Message
	switch reader.Message(text, &m) {
	case jsontext.Single:
		return w.one(&m)
	case jsontext.Array: // a batch, of 2025-03-26: it crosses as a whole
		jsontext.Elements(text, func(element json.RawMessage) bool {
			if reader.Message(element, &m) == jsontext.Single {
				w.one(&m)
			}
			return true
		})
	}
	return false
}

func (w *wire) one(m *jsontext.Message) (kept bool) {
	method, id := jsontext.String(m.Method), idOf(m.ID)
	switch {
	case method == methodCancelled:
		return w.cancelled(m.Params)
	case m.Method == nil && m.ID != nil:
		w.record(Event{Kind: Replied, ID: id, Failed: m.Error != nil})
	case m.ID != nil:
		w.requested(id, method, m.Params)
	}
	return false
}

func (w *wire) cancelled(params json.RawMessage) (kept bool) {
	e := Event{Kind: Cancelled, ID: idOf(jsontext.Get(params, "requestId"))}
	e.Reason = short(jsontext.String(jsontext.Get(params, "reason")))
	w.record(e)
	w.mu.Lock()
	c, open := w.calls[e.ID]
	w.mu.Unlock()
	if open {
		c.cancel(errCancelled)
	}
	return open
}

func (w *wire) requested(id, method string, params json.RawMessage) {
	meta := jsontext.Get(params, "_meta")
	e := Event{Kind: Requested, ID: id, Method: short(method), Retry: jsontext.Get(params, "requestState") != nil}
	if method == protocol.MethodCallTool {
		e.Tool = short(jsontext.String(jsontext.Get(params, "name")))
	}
	w.mu.Lock()
	if method == protocol.MethodCallTool {
		ctx, cancel := context.WithCancelCause(context.Background())
		w.calls[id] = call{ctx, cancel}
	}
	var spoke *Event
	switch revision := jsontext.String(jsontext.Get(meta, protocol.MetaProtocolVersion)); {
	case method == protocol.MethodInitialize:
		w.hello = &Event{Kind: Spoke, ID: id, Client: named(jsontext.Get(params, "clientInfo")),
			Asks: asks(jsontext.Get(params, "capabilities"))}
	case revision != "" && !w.spoke:
		w.spoke = true
		spoke = &Event{Kind: Spoke, Revision: short(revision), Client: named(jsontext.Get(meta, protocol.MetaClientInfo)),
			Asks: asks(jsontext.Get(meta, protocol.MetaCapabilities))}
	}
	w.mu.Unlock()
	if spoke != nil {
		w.record(*spoke)
	}
	w.record(e)
}

// said takes one message that was written to the client.
func (w *wire) said(text []byte) {
	var reader jsontext.Reader
	var m jsontext.Message
	if reader.Message(text, &m) != jsontext.Single {
		return
	}
	id := idOf(m.ID)
	switch method := jsontext.String(m.Method); {
	case method == methodCancelled:
		w.record(Event{Kind: Withdrew, ID: idOf(jsontext.Get(m.Params, "requestId"))})
	case m.Method != nil && m.ID != nil:
		w.record(Event{Kind: Asked, ID: id, Method: method})
	case m.Method == nil && m.ID != nil:
		w.answered(id, &m)
	}
}

func (w *wire) answered(id string, m *jsontext.Message) {
	w.mu.Lock()
	hello, c, late := w.hello, w.calls[id], w.late
	delete(w.calls, id)
	if hello != nil && hello.ID == id {
		w.hello = nil
	} else {
		hello = nil
	}
	w.mu.Unlock()
	if hello != nil {
		hello.ID, hello.Revision = "", jsontext.String(jsontext.Get(m.Result, "protocolVersion"))
		w.record(*hello)
	}
	w.record(Event{Kind: Answered, ID: id})
	if c.cancel != nil && c.Err() != nil && late != nil {
		late()
	}
}

// onLate sets what is called after a late answer was written.
func (w *wire) onLate(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = f
}

// closed takes the end of the stream of a POST with these requests, which the client has closed.
func (w *wire) closed(ids []string) {
	for _, id := range ids {
		w.mu.Lock()
		_, open := w.calls[id]
		w.mu.Unlock()
		if open {
			w.record(Event{Kind: Closed, ID: id})
		}
	}
}

// call returns the tool call with this id, or one that nobody cancels.
func (w *wire) call(id jsonrpc.ID) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.calls[id.String()]; ok {
		return c
	}
	return context.Background()
}

// idOf returns an id as it is compared: its JSON text, cut.
func idOf(raw json.RawMessage) string { return string(raw[:min(len(raw), idBytes)]) }

func short(text string) string {
	if len(text) > textBytes {
		text = strings.ToValidUTF8(text[:textBytes], "") + "…"
	}
	return bounds.Printable(text)
}

// named returns the name and version of an implementation.
func named(info json.RawMessage) string {
	return short(strings.TrimSpace(jsontext.String(jsontext.Get(info, "name")) + " " +
		jsontext.String(jsontext.Get(info, "version"))))
}

// asks returns by which capabilities a client can be asked.
func asks(capabilities json.RawMessage) (names []string) {
	jsontext.Members(capabilities, func(name []byte, value json.RawMessage) bool {
		if n := string(name); jsontext.IsObject(value) && slices.Contains([]string{"elicitation", "sampling", "roots"}, n) {
			names = append(names, n)
		}
		return true
	})
	return names
}

// stream is a connection of a pipe whose messages are recorded.
type stream struct {
	jsonrpc.Stream
	wire *wire
	rest []byte // of a line that was recorded and not written whole; used by the goroutine that writes
}

// ReadMessage returns the next message that the server's half may have.
func (s *stream) ReadMessage(results *bounds.Account) (jsonrpc.Message, error) {
	for {
		m, err := s.Stream.ReadMessage(results)
		if err != nil || !s.wire.heard(m.Text) {
			return m, err
		}
		if m.Hold != nil {
			m.Hold.Release()
		}
	}
}

// Write implements jsonrpc.Stream.
func (s *stream) Write(lines []byte) (int, error) { return s.each(lines, s.Stream.Write) }

// TryWrite implements jsonrpc.Stream.
func (s *stream) TryWrite(lines []byte) (int, error) { return s.each(lines, s.Stream.TryWrite) }

// each writes line by line, and records each before: the client may act on it while it is written.
func (s *stream) each(lines []byte, write func([]byte) (int, error)) (n int, err error) {
	for line := range bytes.Lines(lines) {
		if !bytes.Equal(line, s.rest) {
			s.wire.said(line)
		}
		var written int
		written, err = write(line)
		n += written
		if s.rest = nil; written < len(line) {
			s.rest = bytes.Clone(line[written:])
			return n, err
		}
	}
	return n, err
}
