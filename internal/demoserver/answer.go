package demoserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync/atomic"
)

// withdraws reports whether a tool withdraws its question.
func withdraws(tool string) bool {
	return tool == "ask_then_withdraw" || tool == "sample_then_withdraw"
}

// answerWriter writes the answer to one request over Streamable HTTP, with two additions. It notes when the response
// was written: a client that leaves later cancels nothing. And it puts the tool's reason into the cancel of a withdrawn
// question. The SDK sends the question and its cancel on the stream of the call, each event in one write, and always
// with a reason of its own. (conn.go does the same for the other transports, but this transport cannot be wrapped.)
type answerWriter struct {
	http.ResponseWriter
	id       json.RawMessage // of the request
	reason   string          // "" keeps the SDK's reason
	answered atomic.Bool
}

// Unwrap lets [http.ResponseController] find the flusher.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answers reports whether b begins the response, as the SDK writes it: id first, then result or error.
func (w *answerWriter) answers(b []byte) bool {
	_, after, ok := bytes.Cut(b[:min(len(b), 64+len(w.id))], append([]byte(`"id":`), w.id...))
	return ok && (bytes.HasPrefix(after, []byte(`,"result":`)) || bytes.HasPrefix(after, []byte(`,"error":`)))
}

func (w *answerWriter) Write(b []byte) (int, error) {
	if w.answers(b) {
		w.answered.Store(true)
	}
	if w.reason == "" {
		return w.ResponseWriter.Write(b)
	}
	before, data, ok := bytes.Cut(b, []byte("data: "))
	var msg map[string]json.RawMessage
	if !ok || !bytes.Contains(data, []byte(`"notifications/cancelled"`)) || json.Unmarshal(data, &msg) != nil ||
		string(msg["method"]) != `"notifications/cancelled"` {
		return w.ResponseWriter.Write(b)
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal(msg["params"], &params); err != nil {
		return w.ResponseWriter.Write(b)
	}
	reason, err := json.Marshal(w.reason)
	if err != nil {
		return 0, err
	}
	params["reason"] = reason
	if msg["params"], err = json.Marshal(params); err != nil {
		return 0, err
	}
	text, err := json.Marshal(msg)
	if err != nil {
		return 0, err
	}
	event := append(append(bytes.Clone(before), "data: "...), text...)
	if _, err := w.ResponseWriter.Write(append(event, "\n\n"...)); err != nil {
		return 0, err
	}
	return len(b), nil
}
