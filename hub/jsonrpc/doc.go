// Package jsonrpc is one JSON-RPC 2.0 peer for MCP: ids that stay opaque, a tracker of the open requests of both
// directions, cancellation both ways with its reason, one writer, ordered delivery, and a reader that survives what
// real servers print.
//
// What lives here is everything that is true of every MCP connection, whatever its revision and transport. What must
// not: methods and their params (hub/mcp; notifications/cancelled is the one exception, because only the reading loop
// can handle it in time), processes and HTTP (hub/transport), and every wait for a person.
//
// A connection is either one ordered stream of bytes, which the Peer queues for (stdio, HTTP+SSE), or a Sender, whose
// messages travel each on its own (Streamable HTTP): then there is no queue and no writer, a request can fail alone
// (CallFailedError), and a request of the other side may tell in whose answer it came (Sourced).
//
// # Goroutines and locks
//
// A Peer owns a reader, a writer (none over a Sender), one goroutine that delivers notifications and the responses that
// wait behind them, one goroutine for each open incoming request, and a timer while bytes are on their way. A call
// costs none. All of them have ended when Close returns.
//
// There are three states, each under a lock of its own, and never two locks at once (a Sender, which must not call
// back, is called with that of the outbox held): RequestTracker (who is pending), outbox (what waits to be written) and
// inbox (what waits to be delivered). Nobody waits for anything with a lock held. A race is settled by taking the entry
// out of the tracker: a response, a cancel and the end of the connection all try, and the one that got it acts.
//
// # Order
//
// Messages are written in the order in which they were queued. Notifications are handled in the order in which they
// came, except that a coalesced one takes the place of the older one that it replaces. A response reaches its caller
// after every notification that came before it has been handled. Incoming requests and notifications/cancelled
// overtake: they are handled by the reading goroutine itself, the latter before the next message is read.
package jsonrpc
