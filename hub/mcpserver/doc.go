// Package mcpserver is the server side of the Model Context Protocol, on top of hub/jsonrpc: revisions 2024-11-05 to
// 2025-11-25 (initialize) and 2026-07-28 (server/discover, metadata with each request, multi round-trip requests,
// subscriptions/listen).
//
// This package contains what holds for every MCP server: negotiation, sessions, which client may be asked what, how a
// cancel, a question and its withdrawal are sent in each era, and the bounds for clients. What must not live here: any
// tool, any list, any policy, and the hub. The Handler decides what a request means.
//
// # Requests
//
// Handler.Request is called for each request on a goroutine of its own, for which the server waits. Its context ends
// with the client's reason as its cause (*jsonrpc.WithdrawnError), with *SessionEndedError when the session ends, and
// with ErrNoRetry if a client that was asked did not retry in time. A request that the client has cancelled gets no
// answer, whatever the handler returns.
//
// # Questions
//
// Call.Ask asks the client during a request. A legacy client gets a request of ours; if the context of Ask ends, the
// question is withdrawn with the cause's reason. A modern client gets a round: the open questions are the answer to its
// request, the handler goes on waiting, and it continues when the client retries. A question that was withdrawn in the
// meantime is absent at the retry. If a client cancels a request that was answered with a round, it has given up the
// call: its cancel and the round were sent at the same time, and no other message says that it will not retry.
//
// # Order
//
// On a pipe the order of the messages decides. Over HTTP a wire decides, a machine without I/O, which a carrier feeds
// and obeys: what is sent on which stream of a client, and what ends with what. See wire.go. A modern request over its
// rounds has a machine of its own, round.go, in either transport.
//
// # Locks
//
// These types have one lock each: a Session (for what was negotiated), a rounds (for the questions of one modern
// request), the Server (for its sessions, its parked requests, and the counts of open requests), a carrier (for its
// wire) and the backlog (for what all wires hold). The Server's lock may be taken while that of a rounds is held, and
// the backlog's while that of a carrier is held; no other two are held at once. No goroutine waits while it holds one.
package mcpserver
