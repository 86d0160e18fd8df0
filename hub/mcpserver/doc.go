// Package mcpserver is MCP's server side towards a client, over hub/jsonrpc: revisions 2024-11-05 to 2025-11-25
// (initialize) and 2026-07-28 (server/discover, metadata with each request, multi round-trip requests,
// subscriptions/listen).
//
// What lives here is what is true of every MCP server: negotiation, sessions, who may be asked what, how a cancel, a
// question and its withdrawal travel in each era, and the bounds on what a client may take. What must not: any tool,
// any list, any policy, and the hub. What a request means is its Handler's business.
//
// # Requests
//
// Handler.Request is called for each request on a goroutine of its own, which the server waits for. Its context ends
// with the client's reason as its cause (*jsonrpc.WithdrawnError), with *SessionEndedError when the session ends, and
// with ErrNoRetry when a client that was asked never came back. A request that the client has cancelled gets no
// answer, whatever the handler returns.
//
// # Questions
//
// Call.Ask asks the client in the course of a request. Towards a legacy client that is a request of ours, and ending
// the context of Ask withdraws it, with the cause's reason. Towards a modern client it is a round: the client gets the
// open questions as the answer to its request, the handler stays where it is, and goes on when the client retries. A
// question withdrawn meanwhile is gone at the retry. A client that cancels the request that was answered with a round
// has given the call up: its cancel has crossed the round, and nothing else tells that it does not come back.
//
// # Locks
//
// A Session has one (what was negotiated), a rounds (the questions of one modern request), the Server (its sessions,
// its parked requests, who has a place), a webConn (which request has which stream) and an eventLog (what its streams
// hold). With that of a rounds held that of the Server may be taken, and with that of a webConn that of its eventLog;
// no other two. Nobody waits for anything with one held.
package mcpserver
