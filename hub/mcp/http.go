package mcp

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// streamable is the part of a transport over HTTP that a link needs: transport.Streamable in both eras, transport.SSE
// in the legacy one.
type streamable interface {
	Exchanges
	// Speak sets the era and the revision of the messages from now on; "" while initialize is open.
	Speak(modern bool, revision string)
	// Send takes ownership of a message and never blocks; Receive reports what becomes of it. An error is that with which
	// Receive has ended: the message is not sent.
	Send(m transport.Message) error
	// Receive returns what was received. It must not be called concurrently. An error is the end.
	Receive() (transport.Received, error)
	Close() error
}

// streamableLink returns a link over t, and owns t.
func streamableLink(t streamable) *Link {
	c := &streamableConn{t: t}
	return &Link{Conn: c, Exchanges: t, Speak: c.speak}
}

// streamableConn makes a jsonrpc.Sender of a transport that sends each message separately.
type streamableConn struct {
	t      streamable
	modern atomic.Bool
}

func (c *streamableConn) speak(era Era, revision string) {
	c.modern.Store(era == Modern)
	c.t.Speak(era == Modern, revision)
}

// Send implements jsonrpc.Sender. Only modern requests have headers that repeat parts of the request.
func (c *streamableConn) Send(m jsonrpc.OutgoingMessage) error {
	out := transport.Message{ID: m.ID.String(), Method: m.Method, Body: m.Message}
	if c.modern.Load() {
		out.Name = requestName(m.Method, m.Message)
		if params, ok := m.Extra.(mirrored); ok {
			out.Params = params
		}
	}
	return c.t.Send(out)
}

// ReadMessage implements jsonrpc.Conn. The transport charges messages to HTTPOptions.Results, and has parsed them to
// find out which request they answer.
func (c *streamableConn) ReadMessage(*bounds.Account) (jsonrpc.Message, error) {
	r, err := c.t.Receive()
	switch {
	case err != nil:
		return jsonrpc.Message{}, err
	case r.FailedID != "":
		return jsonrpc.Message{}, &jsonrpc.CallFailedError{ID: wireID(r.FailedID), Err: r.Err}
	case r.Err != nil:
		return jsonrpc.Message{}, r.Err
	}
	return jsonrpc.Message{Text: r.Body, Message: r.Message, Kind: r.Kind, Source: wireID(r.Stream), Owned: true,
		Hold: r.Hold}, nil
}

// Close implements jsonrpc.Conn.
func (c *streamableConn) Close() error { return c.t.Close() }

// wireID parses an id that a transport has returned; "" becomes the zero ID.
func wireID(text string) jsonrpc.ID {
	id, err := jsonrpc.ParseID([]byte(text))
	if err != nil {
		return jsonrpc.ID{}
	}
	return id
}

// requestName returns the value of the header Mcp-Name of a request, which says what it is about (2026-07-28
// basic/transports/streamable-http "Request Metadata"; ext-tasks for its three methods). It is taken from the message
// itself, so that header and body cannot differ.
func requestName(method string, message []byte) string {
	key := ""
	switch method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		key = "taskId"
	default:
		return ""
	}
	return stringOf(member(member(message, "params"), key))
}

// HTTP returns an Opener over Streamable HTTP, for either era. It sends nothing before the start of the session.
func HTTP(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o)
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l := streamableLink(transport.NewStreamable(o))
		l.SignedIn = clock
		return l, nil
	}
}

// SSE returns an Opener over HTTP+SSE, the transport of 2024-11-05. The Opener returns when the server has sent the URL
// to which messages are posted.
func SSE(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o)
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t := transport.NewSSE(o)
		if err := t.Connect(ctx); err != nil {
			return nil, err
		}
		l := streamableLink(t)
		l.LegacyOnly, l.SignedIn = true, clock
		return l, nil
	}
}

// AnyHTTP is HTTP for an address whose transport is not known: if a server refuses initialize in the way of a server
// that only knows the older HTTP+SSE, it is tried again over that (2025-11-25 and 2026-07-28 basic/transports,
// "Backward Compatibility").
func AnyHTTP(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o) // one for both, so that the first link counts a sign-in for the second
	open, fallback := HTTP(o), SSE(o)
	return func(ctx context.Context) (*Link, error) {
		l, err := open(ctx)
		if err == nil {
			l.Fallback, l.SignedIn = fallback, clock
		}
		return l, err
	}
}

// timeSignIn wraps o.Auth in a timedAuth and returns its total. It returns nil if o.Auth is nil.
func timeSignIn(o *transport.HTTPOptions) func() time.Duration {
	if o.Auth == nil {
		return nil
	}
	a := &timedAuth{Authorizer: o.Auth}
	o.Auth = a
	return a.total
}

// timedAuth is an Authorizer that measures for how long users have been asked to sign in so far.
type timedAuth struct {
	transport.Authorizer

	mu    sync.Mutex    // guards what follows
	open  int           // requests that wait for a sign-in
	since time.Time     // when open became 1
	spent time.Duration // the total before that
}

// Authorize implements transport.Authorizer.
func (a *timedAuth) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	a.mu.Lock()
	if a.open++; a.open == 1 {
		a.since = time.Now()
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.open--; a.open == 0 {
			a.spent += time.Since(a.since)
		}
	}()
	return a.Authorizer.Authorize(ctx, req, resp)
}

func (a *timedAuth) total() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open > 0 {
		return a.spent + time.Since(a.since)
	}
	return a.spent
}
