package transport

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// HTTPOptions says how a server behind a URL is reached. URL is required.
type HTTPOptions struct {
	// URL is the one address of the server. Its user information is not sent anywhere; see Header.
	URL string
	// Header goes out with each request, Authorization of the config among them. It wins over nothing that the protocol
	// sets itself.
	Header http.Header
	// RoundTripper carries the exchanges; nil makes one of our own, which Close closes. It must follow no redirects and
	// must set no time limit of its own on a body: a stream may be silent for as long as a tool works. It should honour
	// httptrace.ClientTrace, as every http.Transport does: without that a request counts as written once its last byte was
	// read.
	RoundTripper http.RoundTripper
	// Auth signs requests; nil: only Header counts, and a 401 is an error.
	Auth Authorizer
	// MaxMessageBytes bounds one message (one JSON body, or the data of one event); 0 means 64 MiB.
	MaxMessageBytes int
	// Results is the account of large messages, from the first part that was read of one until whoever got it with
	// Received.Hold releases that; nil: nothing is counted.
	Results *bounds.Account
	// Logger; nil discards. Payloads, headers and queries of URLs are never logged.
	Logger *slog.Logger
}

// Authorizer signs HTTP requests and gets new rights when a server refuses them. It is called for many requests at
// once.
type Authorizer interface {
	// Sign sets the headers that authorize req; it may refresh a token over the network within ctx. Without a token it
	// sets nothing.
	Sign(ctx context.Context, req *http.Request) error
	// Authorize is called after a 401 or 403 for req, at most once for each message. It closes resp.Body. nil: send the
	// message once more. ctx is that of the exchange: when it ends, whoever waits here stops waiting, and an error comes
	// back.
	Authorize(ctx context.Context, req *http.Request, resp *http.Response) error
	// Observe is called for each answer to a request that was signed, before anything else is done with it. It neither
	// blocks nor reads the body. again: the server did nothing but ask for what the next Sign adds, a nonce say (RFC 9449
	// section 9); the message is sent once more, and Authorize is not called. A server that asks a second time is refused
	// like any other.
	Observe(req *http.Request, resp *http.Response) (again bool)
}

// Message is one JSON-RPC message on its way to a server over HTTP.
type Message struct {
	// ID is the JSON text of a request's id; "" for a notification and a response.
	ID string
	// Method is "" for a response.
	Method string
	// Name goes into Mcp-Name, as it stands (2026-07-28 basic/transports/streamable-http "Request Metadata"); "" for
	// methods without one.
	Name string
	// Params are further headers, Mcp-Param-* of x-mcp-header: names without the prefix, values as they stand.
	Params map[string]string
	// Body is the message itself. It belongs to the transport from now on.
	Body []byte
}

// Received is one thing that came over HTTP: a message, or the news that a request has failed.
type Received struct {
	// Body is one JSON-RPC message, or for 2025-03-26 an array of them.
	Body []byte
	// Message and Kind are what Body says, if it had to be read to find out whom it answers; else Kind is
	// jsontext.Invalid.
	Message jsontext.Message
	Kind    jsontext.Kind
	// Stream is the id of the request in whose answer Body came; "" when it came on the standalone stream.
	Stream string
	// Hold is what Body holds of HTTPOptions.Results; whoever receives it owns it. May be nil.
	Hold *bounds.Hold
	// FailedID is the id of a request that gets no answer any more, because of Err. Body is nil then.
	FailedID string
	// Err without FailedID is a *jsontext.TooLongError: a message was skipped of which it is not known whom it answers.
	Err error
}
