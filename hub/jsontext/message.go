package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// excerptBytes is how many bytes are kept of each end of a message that is too long.
const excerptBytes = 4 << 10

// TooLongError stands for one message that was skipped, because it was longer than a connection allows or because the
// account had no room for it. It keeps both ends of the message. Fill it with Add.
type TooLongError struct {
	Limit      int    // bytes allowed
	Err        error  // the error of the account, if it had no room for the message; nil: the message is longer than Limit
	Size       int64  // bytes that came
	Head, Tail []byte // the first and the last bytes of the message, at most 4 KiB each
}

// Add adds the next part of the message. It copies the bytes that belong to one of the ends.
func (e *TooLongError) Add(part []byte) {
	e.Size += int64(len(part))
	e.Head = append(e.Head, part[:min(len(part), excerptBytes-len(e.Head))]...)
	part = part[max(0, len(part)-excerptBytes):]
	if over := len(e.Tail) + len(part) - excerptBytes; over > 0 {
		e.Tail = e.Tail[:copy(e.Tail, e.Tail[over:])]
	}
	e.Tail = append(e.Tail, part...)
}

func (e *TooLongError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("a message of %d bytes found no room: %v", e.Size, e.Err)
	}
	return fmt.Sprintf("a message of %d bytes is longer than the limit of %d", e.Size, e.Limit)
}

func (e *TooLongError) Unwrap() error { return e.Err }

// Outline returns what can be seen of the message in its two ends.
func (e *TooLongError) Outline() Outline { return excerpt(e.Head, e.Tail) }

// Outline is what is known about a message that was not read as a whole.
type Outline struct {
	ID      json.RawMessage
	Version bool // the message says that it is JSON-RPC 2.0
	Method  bool
	Answer  bool // it has a result or an error
}

// Answers reports whether the message is certainly a response to the request ID, and to no other.
func (o *Outline) Answers() bool { return o.Version && o.Answer && !o.Method && IsID(o.ID) }

// excerpt parses the two ends of a message that was too long to keep, and returns the top-level members that can be
// seen there. It guesses nothing. An answer to us is recognized only if its id is in one of the ends; all writers of
// JSON-RPC put it there, since only one member can be long.
func excerpt(head, tail []byte) Outline {
	var m Message
	b := bytes.TrimPrefix(head, byteOrderMark)
	var r Reader
	r.object(b, 0, func(p place) int {
		end := r.value(b, p.from, 1)
		// A number at the end of the excerpt may continue behind it, so a value counts only if something follows it.
		if end < 0 || end == len(b) {
			m.set(p.nameIn(b), json.RawMessage{}) // the member is there
			return stopped
		}
		m.set(p.nameIn(b), b[p.from:end:end])
		return end
	})
	m.tail(tail)
	return Outline{ID: m.ID, Version: String(m.Version) == "2.0", Method: m.Method != nil,
		Answer: m.Result != nil || m.Error != nil}
}

// tail parses the members with which a message ends, from the last "id" or "jsonrpc" on: {..., "id": 7, "jsonrpc":
// "2.0"}. A member of an inner object is followed by more brackets, and a name inside a string by an escaped quote, so
// neither is mistaken for a top-level member.
func (m *Message) tail(b []byte) {
	id := bytes.LastIndex(b, []byte(`"id"`))
	for _, at := range []int{min(id, bytes.LastIndex(b, []byte(`"jsonrpc"`))), id} {
		if at <= 0 || b[at-1] == '\\' {
			continue
		}
		// Cut off what stands before, and parse the rest as an object that begins there.
		if rest := append([]byte{'{'}, b[at:]...); Valid(rest) {
			Members(rest, func(name []byte, value json.RawMessage) bool {
				m.set(name, value)
				return true
			})
			return
		}
	}
}

// deepMessage finds the members of an object that is nested deeper than MaxDepth. It counts brackets and does not match
// them.
func deepMessage(b []byte, m *Message) Kind {
	var r Reader
	*m = Message{}
	end := r.object(b, skipBlanks(b, 0), func(p place) int {
		end := r.value(b, p.from, 1)
		if end == tooDeep {
			end = skipDeep(b, p.from)
		}
		if end >= 0 {
			m.set(p.nameIn(b), b[p.from:end:end])
		}
		return end
	})
	if end < 0 || skipBlanks(b, end) != len(b) {
		*m = Message{}
		return Invalid
	}
	return Deep
}

// skipDeep returns the end of the array or object that begins at i.
func skipDeep(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i, _ = scanString(b, i+1); i < 0 {
				return invalid
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return invalid
}
