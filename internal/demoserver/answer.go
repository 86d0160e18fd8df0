package demoserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync/atomic"
)

// withdraws reports whether a tool takes its question back.
func withdraws(tool string) bool {
	return tool == "ask_then_withdraw" || tool == "sample_then_withdraw"
}

// answerWriter is the answer to one request over Streamable HTTP. It sees whether the response went out, after which a
// client that leaves ends nothing any more. And it puts the reason into the cancel of a withdrawn question: the SDK
// sends the question and its cancel on the stream of the call, each event in one write, and always gives a reason of
// its own. (conn.go does that for the other transports, but this one cannot be wrapped.)
type answerWriter struct {
	http.ResponseWriter
	id       json.RawMessage // of the request
	reason   string          // "" leaves the SDK's
	answered atomic.Bool
}

// Unwrap lets [http.ResponseController] flush.
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
