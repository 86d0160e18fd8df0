// Package transport carries messages between the hub and an MCP server behind a URL. Of the hub's packages it imports
// only leaves. What must not live here: processes (hub/process), and what messages mean (hub/mcp).
//
// A server behind a URL is reached by [Streamable] (Streamable HTTP) or [SSE] (HTTP+SSE). Both send through one sender,
// and each message is a POST of its own. [Repeats] decides what is sent again.
//
// Each request is an exchange: one POST, one goroutine, one context, and one state with one transition function. That
// function also decides when a cancellation is sent and which outcome is reported for it. Over Streamable HTTP, the
// messages of an exchange come in a JSON body, on its event stream, or on the streams that resume that one. Receive
// returns them in order, and as the last one the answer or one failure. Over HTTP+SSE, an exchange covers the POST
// alone, and the messages of the server come on the one stream of the connection. A failure says whether the request
// may have run ([Delivery]).
//
// Whoever takes an exchange out of the map of open exchanges reports its end, or keeps silent about it: Receive with
// the end, Abort, or the end of a cancellation. So nothing is received after Abort has returned, and no end is received
// twice.
//
// Notifications are sent one after the other, concurrently with the requests. Responses are sent independently of both,
// a bounded number at a time. Only notifications/initialized delays requests. An idle transport has no goroutine, but
// for the standalone stream of a legacy session and the stream of HTTP+SSE.
package transport
