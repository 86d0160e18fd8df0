package transport

import (
	"net/http"
	"strings"
)

// Ground is what a request met that may be sent once more. What is repeated is what surely did not run, and Repeats
// says so for all of the hub: there is no other place that decides it. docs/protocol.md, "What is sent again", shows it
// as a table.
type Ground int

const (
	// GroundNonce: the server did nothing but ask for what the next signature adds (RFC 9449 section 9).
	GroundNonce Ground = iota
	// GroundSignIn: 401 or 403, and a sign-in after it.
	GroundSignIn
	// GroundMoved: 307 or 308 within the origin, for a GET also 301, 302 and 303.
	GroundMoved
	// GroundTooMany: 429. The server says that it did nothing.
	GroundTooMany
	// GroundUnavailable: 503 with Retry-After. A gateway says that also of a server that died at work.
	GroundUnavailable
	// GroundSessionOver: 404, or 400 that a ping confirms, in a session that is over. Carried out in package hub, on a
	// new session.
	GroundSessionOver
	// GroundDeadConnection: a connection that was kept turns out to be dead before a byte was written. Carried out by
	// net/http.
	GroundDeadConnection
	// GroundUnreachable: no connection came about.
	GroundUnreachable
	// GroundHeaders: -32020, the headers do not fit the body. Carried out in hub/mcp, when the tool's definition asks
	// for others now.
	GroundHeaders
	// GroundCapability: -32021, the request lacks a capability of the client.
	GroundCapability
	// GroundVersion: -32022, another revision is wanted. Carried out in hub/mcp, by the start of a session.
	GroundVersion
	// GroundURL: -32042, the user has to visit a page first. Carried out in hub/mcp, after consent.
	GroundURL
	// GroundRound: the answer is a question (MRTR), and the next round carries the user's answer. Carried out in
	// hub/mcp.
	GroundRound
	// GroundPoll: the next look at a task. Carried out in hub/mcp.
	GroundPoll
	// GroundUnknown: anything else. The request may have run.
	GroundUnknown
)

const (
	// maxWaits is how often a request is sent again to a server that asked to wait.
	maxWaits = 3
	// maxRedirects within the origin; the usual one adds a slash.
	maxRedirects = 5
	// AsOften as the rounds, or the polls, that have bounds of their own.
	AsOften = 1 << 30
)

// Repeats tells how often a request may be sent again on this ground. method is that of JSON-RPC, "" for a response,
// "GET" for a GET, and "DELETE" for the end of a session: that is a farewell, for which nobody signs in or waits.
func Repeats(g Ground, method string) int {
	if method == http.MethodDelete && g != GroundNonce {
		return 0
	}
	switch g {
	case GroundNonce, GroundSignIn, GroundSessionOver, GroundDeadConnection, GroundHeaders, GroundVersion:
		return 1
	case GroundMoved:
		return maxRedirects
	case GroundTooMany:
		return maxWaits
	case GroundUnavailable:
		if changesNothing(method) {
			return maxWaits
		}
	case GroundURL, GroundRound, GroundPoll:
		return AsOften
	}
	return 0
}

// changesNothing: the lists, and what opens a session. A tool, a prompt, even the reading of a resource may do
// something.
func changesNothing(method string) bool {
	switch method {
	case http.MethodGet, "initialize", "server/discover":
		return true
	}
	return strings.HasSuffix(method, "/list")
}
