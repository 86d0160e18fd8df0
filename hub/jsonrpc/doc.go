// Package jsonrpc implements a JSON-RPC 2.0 peer for MCP: opaque ids, a tracker of the open requests of both
// directions, cancellation in both directions with its reason, one writer, ordered delivery, and a reader that goes on
// after malformed output of a server.
//
// This package contains what holds for every MCP connection, whatever its revision and transport. What must not live
// here: methods and their params (hub/mcp; the only exception is notifications/cancelled, because only the reading
// goroutine can handle it in time), processes and HTTP (hub/transport), and anything that waits for a user.
//
// A connection is either a Stream, one ordered stream of bytes (stdio), for which the Peer queues its messages, or a
// Sender, which carries each message separately (HTTP). With a Sender there is no queue and no writer, a
// single request can fail (CallFailedError), and for a request of the other side the connection may know in whose
// answer it came (Message.Source).
//
// # Goroutines and locks
//
// A Peer owns a reader, a writer (none with a Sender), one goroutine that delivers notifications and the responses that
// wait behind them, one goroutine for each open incoming request, and a timer that runs while bytes are being written.
// A call needs no goroutine. All of them have ended when Close returns.
//
// There are three states, each with its own lock: RequestTracker (the open requests), outbox (what waits to be written)
// and inbox (what waits to be delivered). No goroutine holds two of these locks at once, and none waits while it holds
// one. A Sender is called with the lock of the outbox held, so it must not call the Peer. Races are decided by the
// tracker's Table, which is plain data: a response, a cancel and the end of the connection all try to take the request
// out of it, and only the one that succeeds acts.
//
// # Order
//
// Messages are written in the order in which they were queued. Notifications are handled in the order in which they
// came, except that a coalesced notification takes the place of the older one that it replaces. A response is delivered
// to its caller after every notification that came before it has been handled. Incoming requests and
// notifications/cancelled overtake: the reading goroutine handles them itself, and handles notifications/cancelled
// before it reads the next message.
package jsonrpc
