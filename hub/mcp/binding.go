package mcp

import "github.com/mcphub-go/mcphub/hub/jsonrpc"

// How a cancel travels is decided here and nowhere else: one route for each binding of era and transport.
//
//	legacy stdio, legacy SSE          notifications/cancelled {requestId, reason}
//	legacy Streamable HTTP            POST notifications/cancelled, then close the POST's stream and do not resume it
//	modern stdio                      notifications/cancelled {requestId, reason}
//	modern Streamable HTTP            close the request's response stream, also while waiting for its headers; no notification
//	between rounds of a call          nothing is in flight: the questions are withdrawn, nothing is sent (input.go)
//	2025-11-25 task                   tasks/cancel
//	modern task                       as a request of its transport until the answer says "task", then tasks/cancel
//	subscriptions/listen              stdio: the notification; HTTP: close the stream
//	queued, not yet written           nothing (jsonrpc removes it from its queue)
//	initialize, server/discover       never (jsonrpc refuses); the link is closed instead (start.go)
//
// Sources: basic/utilities/cancellation of 2024-11-05 to 2025-11-25; 2026-07-28 basic/patterns/cancellation, basic/transports.
//
// Both stdio rows are one route. A transport of another kind brings its own with Link.Route.
func routeFor(l *Link) jsonrpc.CancelRoute {
	if l.Route != nil {
		return l.Route
	}
	return jsonrpc.NotifyRoute{}
}
