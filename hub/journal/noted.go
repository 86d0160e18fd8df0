package journal

import (
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// State records the state that the request has entered.
func (t *Timeline) State(s event.RequestState) { t.add(record{what: recordState, state: uint8(s)}) }

// Cancelled records that the request was cancelled.
func (t *Timeline) Cancelled(c *event.Cancellation) { t.add(record{what: recordCancel, detail: c}) }

// Delivered records the outcome of a cancel.
func (t *Timeline) Delivered(s event.Sending) { t.add(record{what: recordDelivery, detail: &s}) }

// Prompt records that a prompt has opened or, with a cause, closed.
func (t *Timeline) Prompt(id string, kind event.PromptKind, cause event.PromptCause) {
	t.add(record{what: recordPrompt, id: id, prompt: uint8(kind), cause: uint8(cause)})
}

// Failed records the error that the request ended with. Its text quotes neither a server nor what the server was asked
// for.
func (t *Timeline) Failed(err *event.Error, mayContinue bool) {
	t.add(record{what: recordError, detail: tracedError(err, mayContinue)})
}

// Identify records the W3C trace id that other programs know the request by.
func (t *Timeline) Identify(traceID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.traceID = traceID
}

// tracedMeta are the keys of an error's metadata whose values are only settings and numbers of the hub.
var tracedMeta = []string{"setting", "limit", "origin", "http_status", "server_may_continue", "capability", "server",
	"request_id"}

// tracedError returns err with a text that quotes neither a server nor what the server was asked for.
func tracedError(err *event.Error, mayContinue bool) *event.Error {
	kept := &event.Error{Code: err.Code, Reason: err.Reason, Message: strings.ToLower(strings.ReplaceAll(err.Reason, "_",
		" ")),
		Meta: map[string]string{}}
	for _, key := range tracedMeta {
		if v, ok := err.Meta[key]; ok {
			kept.Meta[key] = v
		}
	}
	if setting := kept.Meta["setting"]; setting != "" {
		kept.Message += ": " + setting
		if limit := kept.Meta["limit"]; limit != "" {
			kept.Message += " of " + limit
		}
	}
	if status := kept.Meta["http_status"]; status != "" {
		kept.Message += ": HTTP status " + status
	}
	if mayContinue {
		kept.Meta["server_may_continue"] = "true"
	}
	if kept.Meta["server_may_continue"] == "true" {
		kept.Message += "; the server may go on"
	}
	return kept
}
