package transport

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// answerTo parses a message that came in answer to the request id, and reports whether it is the answer. With batches,
// the answer may be an element of an array. An error whose id is missing or null is about the request (JSON-RPC 2.0
// section 5; 2025-11-25 basic, "Responses"), and gets its id. A message that is not JSON-RPC 2.0 is no answer: the
// receiver would ignore it, and the request would wait for ever.
func answerTo(id string, message []byte, batches bool) (r Received, answered bool) {
	var reader jsontext.Reader
	r = Received{Body: message, Stream: id}
	m := &r.Message
	switch r.Kind = reader.Message(message, m); r.Kind {
	case jsontext.Single, jsontext.Deep:
	case jsontext.Array:
		return r, batches && answeredIn(&reader, message, id)
	default:
		return r, false
	}
	about := m.ID == nil || jsontext.IsNull(m.ID)
	switch {
	case jsontext.String(m.Version) != "2.0" || m.Method != nil || m.Result == nil && m.Error == nil:
		return r, false
	case string(m.ID) == id:
		return r, true
	case !about || m.Error == nil || r.Kind != jsontext.Single:
		return r, false
	}
	r.Body = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`+id+`,"error":`), m.Error, []byte{'}'})
	r.Message, r.Kind = jsontext.Message{}, jsontext.Invalid // Body is another text now
	return r, true
}

// answeredIn reports whether an element of array is the answer to the request id.
func answeredIn(r *jsontext.Reader, array []byte, id string) (answered bool) {
	var m jsontext.Message
	jsontext.Elements(array, func(element json.RawMessage) bool {
		answered = r.Message(element, &m) == jsontext.Single && jsontext.String(m.Version) == "2.0" && m.Method == nil &&
			(m.Result != nil || m.Error != nil) && string(m.ID) == id
		return !answered
	})
	return answered
}

// rpcError is the error of a JSON-RPC message.
type rpcError struct {
	Code    float64
	Message string
}

// errorIn returns the JSON-RPC error in a body that may be anything.
func errorIn(body []byte) (e rpcError, ok bool) {
	var r jsontext.Reader
	var m jsontext.Message
	if r.Message(body, &m) != jsontext.Single || jsontext.String(m.Version) != "2.0" || m.Error == nil {
		return rpcError{}, false
	}
	ok = jsontext.Members(m.Error, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "code":
			e.Code, _ = strconv.ParseFloat(string(value), 64)
		case "message":
			e.Message = jsontext.String(value)
		}
		return true
	})
	return e, ok
}

// aboutMethod reports whether the error is about the request, so that a 404 with this error is not about the session
// (2026-07-28 basic/index "Error Codes").
func (e rpcError) aboutMethod() bool {
	return e.Code == -32601 || e.Code <= -32020 && e.Code >= -32022
}
