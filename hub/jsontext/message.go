package jsontext

import (
	"bytes"
	"encoding/json"
)

// Message is a JSON-RPC message: its members as slices of its text; nil is an absent member.
type Message struct {
	Version, ID, Method, Params, Result, Error json.RawMessage
	index                                      []place // of Result, when that is a large object
}

// Kind is what a text was read as.
type Kind int

// What a text is as a message.
const (
	Invalid Kind = iota // no JSON, or neither an object nor an array
	Array               // several messages; the Message stays empty
	Single              // one object
	// Deep is an object that is complete, and nested deeper than MaxDepth. Its members are known; whether they are JSON
	// inside is not.
	Deep
)

const (
	// indexed is the size from which on a result is not walked again to find its members.
	indexed = 16 << 10
	// maxPlaces bounds the index of one result. MCP's own results have up to ten members.
	maxPlaces = 64
)

// Message reads one whole message. A byte order mark before it is passed over (RFC 8259 section 8.1).
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
	case "error":
		m.Error = value
	}
}

// result reads a result and notes where its members are.
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

// Object is the text of a value and, where it is a large object, what is known of its members. It holds the text: what
// it says stays true for a copy of it.
type Object struct {
	Raw   json.RawMessage
	index []place // nil: not known
}

// ResultObject is the result, for which keep is a copy of its text, or the text itself.
func (m *Message) ResultObject(keep json.RawMessage) Object { return Object{Raw: keep, index: m.index} }

// Members is the function Members for an Object, which costs little for a large one.
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
