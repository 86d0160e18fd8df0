package event

import "time"

// TraceInfo is the timeline of one request. It holds no arguments, no results and no secrets.
type TraceInfo struct {
	Request RequestInfo // the request as it is, or as it was at its end; without progress, subject and the task's message
	Entries []TraceEntry
	Omitted int    // how many entries were left out, from the middle
	TraceID string // the W3C trace id, "" = none
}

// TraceEntry is one entry of a timeline: exactly one field besides Time is set.
type TraceEntry struct {
	Time         time.Time
	State        RequestState
	Message      *TraceMessage
	Cancellation *Cancellation
	Prompt       *TracePrompt
	Err          *Error
	Sending      *Sending // of a cancel; if it is pending, another entry may follow
}

// TraceMessage is one JSON-RPC message on the wire.
type TraceMessage struct {
	Direction Direction // Outgoing: the hub sent it
	Type      string    // "request", "response", "error" or "notification"
	Method    string    // the method of the request or notification, or of the request that is answered
	WireID    string    // JSON text
	Bytes     int
	ErrorCode int64
	Dropped   bool // it is a late response, or the answer to a withdrawn request, which was not written
}

// TracePrompt is a prompt that opened, or, with a cause, closed.
type TracePrompt struct {
	PromptID string
	Kind     PromptKind
	Cause    PromptCause
}

// TraceFilter selects timelines. Zero values do not filter.
type TraceFilter struct {
	RequestID, Server string
	Max               int // most timelines to return, the latest ones
}
