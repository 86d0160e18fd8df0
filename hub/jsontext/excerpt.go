package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
)

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

func (o *Outline) note(name []byte, value json.RawMessage) {
	switch string(name) {
	case "jsonrpc":
		o.Version = String(value) == "2.0"
	case "id":
		o.ID = value
	case "method":
		o.Method = true
	case "result", "error":
		o.Answer = true
	}
}

// excerpt parses the two ends of a message that was too long to keep, and returns the top-level members that can be
// seen there. It guesses nothing. An answer to us is recognized only if its id is in one of the ends; all writers of
// JSON-RPC put it there, since only one member can be long.
func excerpt(head, tail []byte) Outline {
	var o Outline
	b := bytes.TrimPrefix(head, byteOrderMark)
	i := skipBlanks(b, 0)
	if i == len(b) || b[i] != '{' {
		return o
	}
	var r Reader
	r.object(b, i, func(p place) int {
		name := p.nameIn(b)
		end := r.value(b, p.from, 1)
		// A number at the end of the excerpt may continue behind it, so a value counts only if something follows it.
		if end < 0 || end == len(b) {
			o.note(name, nil)
			return stopped
		}
		o.note(name, b[p.from:end:end])
		return end
	})
	o.tail(tail)
	return o
}

// tail parses the members with which a message ends, from the last "id" or "jsonrpc" on: {..., "id": 7, "jsonrpc":
// "2.0"}. A member of an inner object is followed by more brackets, and a name inside a string by an escaped quote, so
// neither is mistaken for a top-level member.
func (o *Outline) tail(b []byte) {
	for _, at := range []int{min(bytes.LastIndex(b, []byte(`"id"`)), bytes.LastIndex(b, []byte(`"jsonrpc"`))),
		bytes.LastIndex(b, []byte(`"id"`))} {
		if at <= 0 || b[at-1] == '\\' {
			continue
		}
		var r Reader
		var last Outline
		// Cut off what stands before, and parse the rest as an object that begins there.
		rest := append([]byte{'{'}, b[at:]...)
		end := r.object(rest, 0, func(p place) int {
			end := r.value(rest, p.from, 1)
			if end >= 0 {
				last.note(p.nameIn(rest), rest[p.from:end:end])
			}
			return end
		})
		if end < 0 || skipBlanks(rest, end) != len(rest) {
			continue
		}
		if last.ID != nil {
			o.ID = last.ID
		}
		o.Version, o.Method, o.Answer = o.Version || last.Version, o.Method || last.Method, o.Answer || last.Answer
		return
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
			name, value := p.nameIn(b), b[p.from:end:end]
			if m.set(name, value); string(name) == "result" {
				m.Result = value
			}
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
