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
