package event

import "time"

// TraceInfo is the timeline of one request. It holds no arguments, no results and no secrets.
type TraceInfo struct {
	Request RequestInfo // as it is now, or was at its end; without progress, subject and the task's message
	Entries []TraceEntry
	Omitted int    // entries that were left out, from the middle
	TraceID string // W3C, "" = none
}

// TraceEntry is one thing that happened: exactly one field besides Time is set.
type TraceEntry struct {
	Time         time.Time
	State        RequestState
	Message      *TraceMessage
	Cancellation *Cancellation
	Prompt       *TracePrompt
	Err          *Error
	Sending      *Sending // of a cancel; another one follows a pending one
}

// TraceMessage is one JSON-RPC message on the wire.
type TraceMessage struct {
	Direction Direction // Outgoing: the hub sent it
	Type      string    // "request", "response", "error" or "notification"
	Method    string    // of a request or notification, or of the request that is answered
	WireID    string    // JSON text
	Bytes     int
	ErrorCode int64
	Dropped   bool // a late response, or the answer to a withdrawn request that was not written
}

// TracePrompt is a prompt that opened, or, with a cause, closed.
type TracePrompt struct {
	PromptID string
	Kind     PromptKind
	Cause    PromptCause
}

// TraceFilter says which timelines; zero values do not filter.
type TraceFilter struct {
	RequestID, Server string
	Max               int // the latest
}
