package transport

import (
	"bytes"
	"encoding/json"
)

// outline is what an exchange has to know of a message: which request it answers, if any.
type outline struct {
	id         []byte // JSON text; nil when absent
	idAt       int    // where id stands in the message
	version    bool   // says that it is JSON-RPC 2.0
	method     bool
	answer     bool // has a result or an error
	err        bool
	incomplete bool // the text ended before the message
}

// outlineOf reads the members at the top of a JSON object, and stops as soon as it is clear whom it answers. It does not check
// that the text is JSON.
func outlineOf(b []byte) (o outline) {
	i := skipBlank(b, 0)
	if i == len(b) || b[i] != '{' {
		return outline{incomplete: true}
	}
	for i++; ; i++ {
		if i = skipBlank(b, i); i < len(b) && b[i] == '}' {
			return o
		}
		from := i
		if i = skipValue(b, i); i >= len(b) || b[from] != '"' {
			o.incomplete = true
			return o
		}
		name := b[from+1 : i-1]
		if i = skipBlank(b, i); i == len(b) || b[i] != ':' {
			o.incomplete = true
			return o
		}
		from = skipBlank(b, i+1)
		switch string(name) {
		case "method":
			o.method = true
		case "result":
			o.answer = true
		case "error":
			o.answer, o.err = true, true
		}
		if o.enough() {
			return o
		}
		// A value that ends with the text may go on behind it.
		if i = skipValue(b, from); i >= len(b) {
			o.incomplete = true
			return o
		}
		switch string(name) {
		case "jsonrpc":
			o.version = string(b[from:i]) == `"2.0"`
		case "id":
			o.id, o.idAt = b[from:i:i], from
		}
		if o.enough() {
			return o
		}
		if i = skipBlank(b, i); i == len(b) || b[i] != ',' {
			o.incomplete = i == len(b)
			return o
		}
	}
}

func (o *outline) enough() bool { return o.id != nil && o.version && (o.method || o.answer) }

func (o *outline) answers(id string) bool {
	return o.version && o.answer && !o.method && string(o.id) == id
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the index after the value at i; len(b) or more when the text ends first, or is no JSON.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
			if depth < 0 {
				return len(b)
			}
		case ' ', '\t', '\n', '\r', ',', ':':
			if depth == 0 {
				return len(b)
			}
			i++
			continue
		default:
			for i < len(b) && bytes.IndexByte([]byte(" \t\r\n,:]}[{\""), b[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		end := bytes.IndexByte(b[i:], '"')
		if end < 0 {
			return len(b)
		}
		end += i
		escapes := 0
		for j := end - 1; j >= i && b[j] == '\\'; j-- {
			escapes++
		}
		i = end
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}

// answerTo tells whether message is the answer to the request id, also as an element of an array. An error with no id, or null, that
// came in answer to the request is about the request (JSON-RPC 2.0 section 5; 2025-11-25 basic, "Responses"): it gets the id. What is not
// JSON-RPC 2.0 answers nothing: whoever reads the message would pass over it, and the request would wait for ever.
func answerTo(id string, message []byte, batches bool) ([]byte, bool) {
	if i := skipBlank(message, 0); i < len(message) && message[i] == '[' {
		return message, batches && answeredIn(message, i+1, id) && json.Valid(message)
	}
	o := outlineOf(message)
	switch {
	case o.answers(id):
		return message, json.Valid(message)
	case !o.err || !o.version || o.method || o.incomplete || o.id != nil && string(o.id) != "null" || !json.Valid(message):
		return message, false
	}
	at, rest, with := o.idAt, o.idAt+len("null"), id
	if o.id == nil {
		at = bytes.IndexByte(message, '{') + 1
		rest, with = at, `"id":`+id+`,`
	}
	out := make([]byte, 0, len(message)+len(with))
	return append(append(append(out, message[:at]...), with...), message[rest:]...), true
}

// answeredIn looks through the elements of the array whose first one stands behind i.
func answeredIn(array []byte, i int, id string) bool {
	for ; ; i++ {
		from := skipBlank(array, i)
		if i = skipValue(array, from); i >= len(array) {
			return false
		}
		if o := outlineOf(array[from:i]); o.answers(id) {
			return true
		}
		if i = skipBlank(array, i); i == len(array) || array[i] != ',' {
			return false
		}
	}
}

// rpcError is the error of a JSON-RPC message.
type rpcError struct {
	Code    float64
	Message string
}

// errorIn reads the JSON-RPC error in a body that may be anything.
func errorIn(body []byte) (rpcError, bool) {
	var m struct {
		JSONRPC string    `json:"jsonrpc"`
		Error   *rpcError `json:"error"`
	}
	if json.Unmarshal(body, &m) != nil || m.JSONRPC != "2.0" || m.Error == nil {
		return rpcError{}, false
	}
	return *m.Error, true
}

// aboutMethod: the error is about the request, so its 404 is not about the session (2026-07-28 basic/index "Error Codes").
func (e rpcError) aboutMethod() bool {
	return e.Code == -32601 || e.Code <= -32020 && e.Code >= -32022
}
