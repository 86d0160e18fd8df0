package jsonrpc

import "sync/atomic"

// Stats are the counts of a Peer since it was started. The counts are read one by one, not as one snapshot.
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
	badLines, oversizeLines, peerErrors            atomic.Uint64
	lateResponses, unknownResponses                atomic.Uint64
	malformedCancels, unknownCancels               atomic.Uint64
	withdrawnRequests, suppressedResponses         atomic.Uint64
	duplicateIDs, refusedRequests, droppedRequests atomic.Uint64
	droppedResponses                               atomic.Uint64
	droppedNotifications, coalescedNotifications   atomic.Uint64
	cancelsSent, unknownFailures                   atomic.Uint64
}

func (c *counters) read() Stats {
	return Stats{
		BadLines:               c.badLines.Load(),
		OversizeLines:          c.oversizeLines.Load(),
		PeerErrors:             c.peerErrors.Load(),
		LateResponses:          c.lateResponses.Load(),
		UnknownResponses:       c.unknownResponses.Load(),
		MalformedCancels:       c.malformedCancels.Load(),
		UnknownCancels:         c.unknownCancels.Load(),
		WithdrawnRequests:      c.withdrawnRequests.Load(),
		SuppressedResponses:    c.suppressedResponses.Load(),
		DuplicateIDs:           c.duplicateIDs.Load(),
		RefusedRequests:        c.refusedRequests.Load(),
		DroppedRequests:        c.droppedRequests.Load(),
		DroppedResponses:       c.droppedResponses.Load(),
		DroppedNotifications:   c.droppedNotifications.Load(),
		CoalescedNotifications: c.coalescedNotifications.Load(),
		CancelsSent:            c.cancelsSent.Load(),
		UnknownFailures:        c.unknownFailures.Load(),
	}
}
