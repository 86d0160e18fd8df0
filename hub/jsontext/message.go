package jsontext

import (
	"bytes"
	"encoding/json"
)

// Message is a JSON-RPC message: its members as slices of its text. An absent member is nil.
type Message struct {
	Version, ID, Method, Params, Result, Error json.RawMessage
	index                                      []place // the members of Result, if that is a large object
}

// Kind is the kind of text that Reader.Message found.
type Kind int

// The kinds of a text.
const (
	Invalid Kind = iota // not valid JSON, or neither an object nor an array
	Array               // several messages; the Message stays empty
	Single              // one object
	// Deep is a complete object that is nested deeper than MaxDepth. Its members are known, but they may not be valid JSON
	// inside.
	Deep
)

const (
	// indexed is the size from which on the positions of a result's members are stored, so that it is not scanned again.
	indexed = 16 << 10
	// maxPlaces bounds the index of one result. MCP's own results have up to ten members.
	maxPlaces = 64
)

// Message parses one whole message into m. It skips a byte order mark before the message (RFC 8259 section 8.1).
func (r *Reader) Message(b []byte, m *Message) Kind {
	*m = Message{}
	b = bytes.TrimPrefix(b, byteOrderMark)
	i := skipBlanks(b, 0)
	if i == len(b) {
		return Invalid
	}
	kind, end := Single, 0
	switch b[i] {
	case '{':
		end = r.message(b, i, m)
	case '[':
		kind = Array
		end = r.value(b, i, 0)
	default:
		return Invalid
	}
	switch {
	case end == tooDeep && kind == Single:
		return deepMessage(b, m)
	case end < 0 || skipBlanks(b, end) != len(b):
		*m = Message{}
		return Invalid
	}
	return kind
}

var byteOrderMark = []byte("\ufeff")

func (r *Reader) message(b []byte, i int, m *Message) int {
	return r.object(b, i, func(p place) int {
		name := p.nameIn(b)
		if string(name) == "result" {
			return r.result(b, p.from, m)
		}
		end := r.value(b, p.from, 1)
		if end >= 0 {
			m.set(name, b[p.from:end:end])
		}
		return end
	})
}

func (m *Message) set(name []byte, value json.RawMessage) {
	switch string(name) {
	case "jsonrpc":
		m.Version = value
	case "id":
		m.ID = value
	case "method":
		m.Method = value
	case "params":
		m.Params = value
	case "result":
		m.Result = value
	case "error":
		m.Error = value
	}
}

// result parses a result and records the positions of its members.
func (r *Reader) result(b []byte, from int, m *Message) int {
	m.Result, m.index = nil, nil
	if from == len(b) || b[from] != '{' {
		end := r.value(b, from, 1)
		if end >= 0 {
			m.Result = b[from:end:end]
		}
		return end
	}
	r.places = r.places[:0]
	end := r.object(b, from, func(p place) int {
		end := r.value(b, p.from, 2)
		if len(r.places) <= maxPlaces {
			r.places = append(r.places, place{name: p.name - from, nameEnd: p.nameEnd - from, from: p.from - from,
				end: end - from, escaped: p.escaped})
		}
		return end
	})
	if end >= 0 {
		m.Result = b[from:end:end]
		if len(m.Result) >= indexed && len(r.places) <= maxPlaces {
			m.index = append(make([]place, 0, len(r.places)), r.places...)
		}
	}
	return end
}

// Object is the text of a value and, for a large object, the positions of its members. The positions are relative to
// the text, so they are valid for a copy of it, too.
type Object struct {
	Raw   json.RawMessage
	index []place // nil: the positions are not known
}

// ResultObject returns the result as an Object. keep is its text or a copy of its text.
func (m *Message) ResultObject(keep json.RawMessage) Object { return Object{Raw: keep, index: m.index} }

// Members is the function Members for an Object. It is fast for a large one.
func (o Object) Members(f func(name []byte, value json.RawMessage) bool) (object bool) {
	if o.index == nil {
		return Members(o.Raw, f)
	}
	for i := range o.index {
		p := &o.index[i]
		if !f(p.nameIn(o.Raw), o.Raw[p.from:p.end:p.end]) {
			break
		}
	}
	return true
}

// Get is the function Get for an Object.
func (o Object) Get(name string) json.RawMessage {
	var found json.RawMessage
	o.Members(func(n []byte, v json.RawMessage) bool {
		if string(n) == name {
			found = v
		}
		return true
	})
	return found
}
