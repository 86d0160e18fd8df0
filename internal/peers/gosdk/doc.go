// Command gosdk is a server on the official Go SDK that the tests run against, as `gosdk stdio|http`. Over HTTP it
// serves Streamable HTTP at /mcp, with sessions for legacy clients and none for modern ones (whose disconnect cancels
// the call), and the old SSE transport at /sse.
//
// It writes down what it sees in the words of ../journal.mjs. It knows nothing of the hub.
package main
