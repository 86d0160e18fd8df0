package transport

import (
	"net/http"
	"strings"
)

// Ground is a reason to send a request again. A request is sent again only if it certainly did not run, or if it
// changes nothing. Repeats alone decides that, for the whole hub. docs/protocol.md, "What is sent again", shows it as a
// table.
type Ground int

const (
	// GroundNonce: the server only asked for what the next signature adds (RFC 9449 section 9).
	GroundNonce Ground = iota
	// GroundSignIn: 401 or 403, and a sign-in after it.
	GroundSignIn
	// GroundMoved: 307 or 308 within the origin, for a GET also 301, 302 and 303.
	GroundMoved
	// GroundTooMany: 429. The server says that it did nothing.
	GroundTooMany
	// GroundUnavailable: 503 with Retry-After. A gateway also answers so for a server that died while it worked on the
	// request.
	GroundUnavailable
	// GroundSessionOver: 404, or 400 that a ping confirms, in a session that is over. Carried out in package hub, on a
	// new session.
	GroundSessionOver
	// GroundDeadConnection: a connection that was kept open turns out to be dead before a byte was written. Carried out by
	// net/http.
	GroundDeadConnection
	// GroundUnreachable: no connection could be opened.
	GroundUnreachable
	// GroundHeaders: -32020, the headers do not match the body. Carried out in hub/mcp, if the tool's definition now asks
	// for other headers.
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
	// maxRedirects is how many redirects within the origin are followed. The usual redirect adds a slash.
	maxRedirects = 5
	// AsOften means that Repeats sets no limit: the rounds and polls have limits of their own.
	AsOften = 1 << 30
)

// Repeats returns how often a request may be sent again for the reason g. method is the JSON-RPC method, "" for a
// response, "GET" for a GET, and "DELETE" for the end of a session. A DELETE is sent again for GroundNonce only: nobody
// signs in or waits in order to end a session.
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

// changesNothing reports whether a request with this method has no effects: it lists something, or opens a session or a
// stream. A tool, a prompt, and even the reading of a resource may have effects.
func changesNothing(method string) bool {
	switch method {
	case http.MethodGet, "initialize", "server/discover":
		return true
	}
	return strings.HasSuffix(method, "/list")
}
