package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// HTTPOptions are the options of a connection to a server by HTTP. Only URL is required.
type HTTPOptions struct {
	// URL is the address of the server. Its user information is not sent anywhere; use Header for that.
	URL string
	// Header is sent with each request. It may hold the Authorization of the config. It does not override headers that the
	// protocol sets.
	Header http.Header
	// RoundTripper sends the HTTP requests. If it is nil, the transport makes one, which Close closes. It must follow no
	// redirects, and must set no time limit of its own on a body: a stream may be silent for as long as a tool works. It
	// should honour httptrace.ClientTrace, as every http.Transport does: otherwise a request counts as written once its
	// last byte was read.
	RoundTripper http.RoundTripper
	// Auth signs requests. If it is nil, nothing but Header authorizes them, and a 401 is an error.
	Auth Authorizer
	// MaxMessageBytes bounds one message (one JSON body, or the data of one event); 0 means 64 MiB.
	MaxMessageBytes int
	// Results is the account that large messages are charged to, from the first part that is read of a message until its
	// receiver releases Received.Hold. If it is nil, nothing is counted.
	Results *bounds.Account
	// Logger receives log records; nil discards them. Payloads, headers and queries of URLs are never logged.
	Logger *slog.Logger
}

// Authorizer signs HTTP requests, and gets new rights when a server refuses them. Its methods may be called
// concurrently.
type Authorizer interface {
	// Sign sets the headers that authorize req. It may refresh a token over the network, within ctx. Without a token it
	// sets nothing.
	Sign(ctx context.Context, req *http.Request) error
	// Authorize is called after a 401 or 403 for req, at most once for each message. It closes resp.Body. If it returns
	// nil, the message is sent once more. ctx is that of the exchange: when it ends, Authorize returns an error at once,
	// even if it waits for a person.
	Authorize(ctx context.Context, req *http.Request, resp *http.Response) error
	// Observe is called for each answer to a request that was signed, before the answer is used in any other way. It must
	// not block, and must not read the body. again reports that the server only asked for what the next Sign adds, such as
	// a nonce (RFC 9449 section 9). The message is then sent once more, and Authorize is not called. If the server asks a
	// second time, its answer is a refusal like any other.
	Observe(req *http.Request, resp *http.Response) (again bool)
}

// Message is one JSON-RPC message on its way to a server over HTTP.
type Message struct {
	// ID is the JSON text of a request's id; "" for a notification and a response.
	ID string
	// Method is "" for a response.
	Method string
	// Name is the value of the header Mcp-Name, not yet encoded (2026-07-28 basic/transports/streamable-http "Request
	// Metadata"); "" for methods without one.
	Name string
	// Params are the headers Mcp-Param-* (x-mcp-header): names without that prefix, and values that are not yet encoded.
	Params map[string]string
	// Body is the JSON text of the message. After Send it belongs to the transport.
	Body []byte
}

// Received is what Receive returns: a message, or the failure of a request.
type Received struct {
	// Body is one JSON-RPC message, or for 2025-03-26 an array of them.
	Body []byte
	// Message and Kind are the parsed Body, if the transport had to parse it to find the request that it answers.
	// Otherwise Kind is jsontext.Invalid.
	Message jsontext.Message
	Kind    jsontext.Kind
	// Stream is the id of the request in whose answer Body came; "" when it came on the standalone stream.
	Stream string
	// Hold is what Body takes of HTTPOptions.Results. The receiver owns it, and has to release it. It may be nil.
	Hold *bounds.Hold
	// FailedID is the id of a request that gets no answer any more, because of Err. Body is then nil.
	FailedID string
	// Err says why the request FailedID failed. Without FailedID it is a *jsontext.TooLongError: a message was skipped,
	// and it is unknown which request it answers.
	Err error
}

// Delivery says what a server may have done with a request that failed.
type Delivery int

const (
	// NotSent: the server has not seen the request, or has said that it did nothing with it.
	NotSent Delivery = iota
	// MayHaveRun: the request may have had effects, and may still go on.
	MayHaveRun
)

var (
	// ErrHTTPClosed is the end of a transport that was closed on this side.
	ErrHTTPClosed = errors.New("the connection was closed")
	// ErrNoSignIn is wrapped by the error of an Authorizer (errors.Is) if another attempt is useless: a person has said
	// no, or the account lacks the right.
	ErrNoSignIn = errors.New("the sign-in was refused")
	// ErrSessionExpired ends a legacy Streamable HTTP transport: the server does not know the session any more (404,
	// 2025-11-25 basic/transports "Session Management"). A new session begins with initialize.
	ErrSessionExpired = errors.New("the server has ended the session")
	// ErrServerLost ends a legacy Streamable HTTP transport whose server cannot be reached any more, while no request is
	// open. Nobody is left to take the answers to what the session had open, such as questions to people.
	ErrServerLost = errors.New("the server cannot be reached any more")
	// ErrTooLong is wrapped by the HTTPError of a request whose answer was longer than HTTPOptions.MaxMessageBytes.
	ErrTooLong = errors.New("the answer is longer than maxMessageBytes allows")
)

// HTTPError is the failure of a request below JSON-RPC.
type HTTPError struct {
	// Status is the HTTP status of the answer; 0 if none came.
	Status int
	// Text says what happened, in words for people: bounded, without control characters, without header values and
	// queries.
	Text string
	// Delivery says whether the request may have had effects.
	Delivery Delivery
	// Sent is how often the whole request was written. The attempts before the last one certainly did not run, or change
	// nothing; see Repeats.
	Sent int
	// RetryAfter is how long the server asked to wait; 0 if it did not ask.
	RetryAfter time.Duration
	// Err is the underlying error, if there is one.
	Err error
}

func (e *HTTPError) Error() string {
	if e.Status == 0 {
		return e.Text
	}
	return fmt.Sprintf("HTTP status %d (%s): %s", e.Status, http.StatusText(e.Status), e.Text)
}

func (e *HTTPError) Unwrap() error { return e.Err }
