package jsonrpc

import "sync"

// Stats are the counts of a Peer since it was started.
type Stats struct {
	BadLines               uint64 // messages that are not JSON-RPC messages; the connection went on
	OversizeLines          uint64 // messages longer than the limit, skipped
	PeerErrors             uint64 // error responses without an id, or with null
	LateResponses          uint64 // responses to calls that were cancelled here
	UnknownResponses       uint64 // responses that match no call, including second responses
	MalformedCancels       uint64 // notifications/cancelled without a usable requestId
	UnknownCancels         uint64 // notifications/cancelled for an id that is not pending
	WithdrawnRequests      uint64 // incoming requests that the peer cancelled
	SuppressedResponses    uint64 // answers of handlers to withdrawn requests, not written
	DuplicateIDs           uint64 // incoming requests with an id that was pending
	RefusedRequests        uint64 // incoming requests beyond MaxIncoming
	DroppedRequests        uint64 // incoming requests while Options.NoServerRequests allowed none
	DroppedResponses       uint64 // answers dropped because the write queue was full
	DroppedNotifications   uint64 // incoming notifications dropped because the handler was too slow
	CoalescedNotifications uint64 // incoming notifications replaced by a newer one
	CancelsSent            uint64 // outgoing cancels passed to the route
	UnknownFailures        uint64 // failures of a call that is neither pending nor was cancelled
}

// counters are the live counts behind Stats.
type counters struct {
	mu sync.Mutex // guards Stats
	Stats
}

// add adds 1 to a field of c, and returns its new value.
func (c *counters) add(field *uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	*field++
	return *field
}

func (c *counters) read() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Stats
}
