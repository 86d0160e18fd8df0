// Command gosdk is a server with the official Go SDK against which the tests run, as `gosdk stdio|http`. Over HTTP it
// serves Streamable HTTP at /mcp, with sessions for legacy clients and without sessions for modern ones (whose
// disconnect cancels the call), and the old SSE transport at /sse.
//
// It records what it observes in the format of ../journal.mjs. It knows nothing about the hub.
package main
