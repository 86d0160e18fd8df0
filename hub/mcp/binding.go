package mcp

import (
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// How a cancel is sent is decided here and nowhere else: there is one route for each binding of era and transport.
//
//	legacy stdio                      notifications/cancelled {requestId, reason}
//	legacy Streamable HTTP            POST notifications/cancelled once the call's headers have come, or a second
//	                                  after its last byte was written, whichever is first; then close the call's
//	                                  stream and do not resume it
//	legacy SSE                        the same: a cancel waits for the POST of its own call, and for no other
//	any HTTP, body not written        that POST is aborted, and nothing is sent
//	modern stdio                      notifications/cancelled {requestId, reason}
//	modern Streamable HTTP            close the request's response stream, also while waiting for its headers;
//	                                  no notification
//	between rounds of a call          nothing is in flight: the questions are withdrawn, nothing is sent (input.go)
//	2025-11-25 task                   tasks/cancel
//	modern task                       as a request of its transport until the answer says "task", then tasks/cancel
//	subscriptions/listen              stdio: the notification; HTTP: close the stream
//	queued, not yet written           nothing (jsonrpc removes it from its queue)
//	initialize, server/discover       never sent (jsonrpc refuses). stdio: the link is closed instead (start.go);
//	                                  HTTP: the exchange is ended
//
// Sources: basic/utilities/cancellation and basic/transports of 2024-11-05 to 2025-11-25; 2026-07-28
// basic/patterns/cancellation, basic/transports.
//
// A link of one ordered stream (stdio) has one route in both eras. Over exchanges the route depends on the era, which
// is read at each cancel, because the start determines it on the same link.
func routeFor(l *Link, era func() Era) jsonrpc.CancelRoute {
	if l.Exchanges == nil {
		return jsonrpc.NotifyRoute{}
	}
	return exchangeRoute{l.Exchanges, era}
}

// Exchanges is a transport on which each request is a separate exchange: Streamable HTTP and HTTP+SSE. Its methods
// never block, and do nothing for an id that has no open exchange.
type Exchanges interface {
	// Abort ends the exchange of a request, also before its headers have come. The id is JSON text. written is false if
	// the body of the request was not written to its end, so that the server cannot know it.
	Abort(id string) (written bool)
	// CancelAndAbort sends the notification as a separate exchange, then ends that of the request and does not resume it.
	// It calls told as jsonrpc.CancelRoute says, but with transport.ErrCancelNotNeeded in place of
	// jsonrpc.ErrCancelNotNeeded.
	CancelAndAbort(id string, notification []byte, told func(error))
}

// exchangeRoute is the route over HTTP, in both eras. A disconnect has a different meaning in each: a legacy server
// SHOULD NOT treat it as a cancel (2025-03-26 to 2025-11-25 basic/transports "Sending Messages"), a modern one MUST,
// and is sent no notification (2026-07-28 basic/transports/streamable-http "Cancellation").
type exchangeRoute struct {
	exchanges Exchanges
	era       func() Era
}

// Cancel implements jsonrpc.CancelRoute.
func (r exchangeRoute) Cancel(p *jsonrpc.Peer, id jsonrpc.ID, reason string, told func(error)) {
	if r.era() == Legacy {
		notification := jsonrpc.CancelNotification(id, reason)
		p.ObserveCancel(id, len(notification))
		r.exchanges.CancelAndAbort(id.String(), notification, func(err error) {
			if errors.Is(err, transport.ErrCancelNotNeeded) {
				err = jsonrpc.ErrCancelNotNeeded
			}
			told(err)
		})
		return
	}
	if r.exchanges.Abort(id.String()) {
		told(nil)
	} else {
		told(jsonrpc.ErrCancelNotNeeded)
	}
}

// Abandon ends the exchange of an initialize or server/discover for which nobody waits any more: a server that never
// answers would otherwise hold one of our connections for the life of the session. No notification is sent. A modern
// server takes the disconnect as the end of its work on a request that changes nothing; for a legacy server it means
// nothing.
func (r exchangeRoute) Abandon(_ *jsonrpc.Peer, id jsonrpc.ID) { _ = r.exchanges.Abort(id.String()) }
