package jsonrpc

import "sync/atomic"

// Stats counts what a Peer has met since it began. The counts are read one by one, not as one snapshot.
type Stats struct {
	BadLines               uint64 // messages that are no JSON-RPC message; the connection went on
	OversizeLines          uint64 // messages beyond the limit, skipped
	PeerErrors             uint64 // error responses without an id, or with null
	LateResponses          uint64 // responses to calls that were cancelled here
	UnknownResponses       uint64 // responses to no call, second responses among them
	MalformedCancels       uint64 // notifications/cancelled without a usable requestId
	UnknownCancels         uint64 // notifications/cancelled for an id that is not pending
	WithdrawnRequests      uint64 // incoming requests that the peer cancelled
	SuppressedResponses    uint64 // answers of handlers to withdrawn requests, not written
	DuplicateIDs           uint64 // incoming requests with an id that was pending
	RefusedRequests        uint64 // incoming requests beyond MaxIncoming
	DroppedRequests        uint64 // incoming requests where none are allowed
	DroppedResponses       uint64 // answers that found the write queue full
	DroppedNotifications   uint64 // incoming notifications dropped because the handler was behind
	CoalescedNotifications uint64 // incoming notifications replaced by a newer one
	CancelsSent            uint64 // outgoing cancels handed to the route
	UnknownFailures        uint64 // failures of no call that is pending or was cancelled
}

// counters are the living side of Stats.
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
