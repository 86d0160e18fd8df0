package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// maxRetryAfter is the longest wait that a server may ask for; a longer one is an error at once.
const maxRetryAfter = 60 * time.Second

// sender sends HTTP requests to one server, for both transports. It signs them, has the Authorizer get new rights when
// a server refuses one, follows redirects, and waits if a server asks for that. Repeats decides what it sends again.
type sender struct {
	url    *url.URL // nil when it cannot be used
	host   string   // for the Host header; "" for that of the URL
	header http.Header
	rt     http.RoundTripper
	own    *roundTripper // rt, if the sender has made it
	auth   Authorizer
	log    *slog.Logger
}

func newSender(o HTTPOptions) *sender {
	s := &sender{rt: o.RoundTripper, auth: o.Auth, log: o.Logger}
	if u, err := url.Parse(o.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		u.User, u.Fragment, u.RawFragment = nil, "", ""
		s.url = u
	}
	s.header, s.host = configHeader(o.Header)
	if s.rt == nil {
		s.own = newRoundTripper()
		s.rt = s.own
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// close ends the connections of a RoundTripper that the sender has made.
func (s *sender) close() {
	if s.own != nil {
		s.own.close()
	}
}

// outgoing is one HTTP request, which is sent again until the server accepts it for processing.
type outgoing struct {
	method string
	url    *url.URL    // nil for that of the sender
	header http.Header // complete, but for what the Authorizer sets
	body   []byte
	rpc    string    // the method of JSON-RPC, "GET" or "DELETE" for those, "" for a response: for Repeats
	ex     *exchange // nil when nobody asks how far the body has gone
	clock  *postClock
	alone  bool // on a connection of its own, if the sender has made the RoundTripper
}

// postClock limits the time that a server has for a POST. It stops while a person signs in.
type postClock struct {
	*time.Timer
	limit time.Duration
}

// send sends o, and returns the first final answer: not one after which o is signed in for, delayed or redirected, and
// sent again. With an error there is no body to close. After the end of ctx nothing more is sent.
func (s *sender) send(ctx context.Context, o *outgoing) (*http.Response, *HTTPError) {
	if s.url == nil {
		return nil, &HTTPError{Text: "the server's URL cannot be used: http or https and a host are needed"}
	}
	first := o.url
	if first == nil {
		first = s.url
	}
	target := first
	traced := ctx
	if o.ex != nil {
		traced = httptrace.WithClientTrace(ctx, o.ex.trace())
	}
	rt := s.rt
	if own, ok := rt.(*roundTripper); ok && o.alone {
		rt = own.fresh()
	}
	var used [GroundUnknown + 1]int // how often the request was sent again, by ground
	again := func(g Ground) bool {
		if used[g]++; used[g] > Repeats(g, o.rpc) {
			return false
		}
		if o.ex != nil {
			o.ex.back()
		}
		return true
	}
	for {
		if ctx.Err() != nil || o.ex != nil && o.ex.givenUp() {
			return nil, o.broken(ctx, "aborted before it was sent", context.Cause(ctx))
		}
		req := (&http.Request{
			Method: o.method, URL: target, Host: s.host, Header: o.header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}).WithContext(traced)
		o.setBody(req)
		if s.auth != nil {
			req.Header = o.header.Clone() // a new copy for each attempt: a token may be gone by then
			if err := s.auth.Sign(ctx, req); err != nil {
				return nil, o.broken(ctx, "the request could not be signed", err)
			}
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			return nil, o.broken(ctx, "", err)
		}
		resp.Request = req
		asks := s.auth != nil && s.auth.Observe(req, resp)
		switch status := resp.StatusCode; {
		case asks && again(GroundNonce):
			discard(resp.Body)
		case noRight(status) && s.auth != nil && again(GroundSignIn):
			used[GroundNonce] = 0 // a nonce that came before may be old by now
			o.clock.stop()
			if err := s.auth.Authorize(ctx, req, resp); err != nil {
				text := "the server wants a sign-in, and there is none: " + excerpt([]byte(err.Error()))
				return nil, &HTTPError{Status: status, Text: text, Delivery: NotSent, Err: err}
			}
			o.clock.restart()
		case status == http.StatusTooManyRequests,
			status == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
			g := GroundTooMany
			if status == http.StatusServiceUnavailable {
				g = GroundUnavailable
			}
			wait, asked := retryAfter(resp.Header)
			if !asked {
				wait = time.Second << used[g]
			}
			if wait > maxRetryAfter || !again(g) {
				return nil, tooMany(resp, wait, asked)
			}
			discard(resp.Body)
			if err := pause(ctx, wait); err != nil {
				return nil, o.broken(ctx, "aborted while it waited to be sent again", err)
			}
		case redirects(status):
			to, err := redirect(first, target, resp)
			if err == nil && !again(GroundMoved) {
				err = notFollowed(status, "the server redirects without end within "+excerpt([]byte(to.Host)))
			}
			if err != nil {
				return nil, err
			}
			target = to
		default:
			if o.ex != nil {
				o.ex.headers(status)
			}
			return resp, nil
		}
	}
}

// setBody gives the body to req, for the HTTP client to read as often as it finds a dead connection.
func (o *outgoing) setBody(req *http.Request) {
	if o.body == nil {
		return
	}
	req.ContentLength = int64(len(o.body))
	if o.ex != nil {
		req.Body, req.GetBody = o.ex.body(), o.ex.bodyAgain
		return
	}
	// net/http writes head and body in one piece if it knows the type of the reader.
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(o.body)), nil }
	req.Body, _ = req.GetBody()
}

// broken returns the error for a failure without an answer. A text of "" means a failure of the HTTP client, whose
// errors contain addresses, but neither headers nor queries.
func (o *outgoing) broken(ctx context.Context, text string, err error) *HTTPError {
	e := &HTTPError{Text: text, Delivery: NotSent, Err: err}
	var dial *net.OpError
	switch {
	case o.ex != nil:
		if o.ex.reached() {
			e.Delivery = MayHaveRun
		}
	case !errors.As(err, &dial) || dial.Op != "dial":
		e.Delivery = MayHaveRun
	}
	if text == "" {
		e.Text = "the server was not reached"
		if e.Delivery == MayHaveRun {
			e.Text = "the server was not reached, or broke off"
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		e.Err = cause
	}
	if e.Err != nil {
		e.Text += ": " + excerpt([]byte(e.Err.Error()))
	}
	if text == "" {
		e.Text += unreachedHint(e.Err)
	}
	return e
}

// unreachedHint returns advice for the most common reasons.
func unreachedHint(err error) string {
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "proxyconnect" {
		return `; its proxy cannot be reached: correct HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY`
	}
	const refused = syscall.Errno(10061) // WSAECONNREFUSED, which is not syscall.ECONNREFUSED on Windows
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, refused) {
		return `; nothing accepts connections there: start the server, or correct its "url"`
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return `; there is no such host: correct "url"`
	}
	return ""
}

func (c *postClock) stop() {
	if c != nil {
		c.Timer.Stop()
	}
}

func (c *postClock) restart() {
	if c != nil {
		c.Timer.Reset(c.limit)
	}
}

// tooMany returns the error for a server that asked to wait for too long or too often. Only 429 says for certain that
// nothing was done.
func tooMany(resp *http.Response, wait time.Duration, asked bool) *HTTPError {
	_, e := readRefusal(resp)
	_ = resp.Body.Close()
	e.Delivery = MayHaveRun
	if resp.StatusCode == http.StatusTooManyRequests {
		e.Delivery = NotSent
		e.Text = "too many requests: the server did nothing with this one; " + e.Text
	}
	if asked {
		e.RetryAfter = wait
		e.Text += " (it asks to wait " + wait.String() + ")"
	}
	return e
}

// retryAfter reads Retry-After (RFC 9110 section 10.2.3): seconds, or a date.
func retryAfter(h http.Header) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// redirects reports whether the status is that of a redirect, wherever that leads.
func redirects(status int) bool {
	return status >= 300 && status <= 399 && status != http.StatusNotModified
}

// redirect returns where to send the request again: within the same origin, and only if the status keeps method and
// body. The headers of the config are meant for one server and are sent to no other.
func redirect(first, target *url.URL, resp *http.Response) (*url.URL, *HTTPError) {
	status := resp.StatusCode
	defer discard(resp.Body)
	to, err := target.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil, notFollowed(status, "the server redirects to nowhere")
	}
	keeps := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	switch {
	case Origin(first) != Origin(to):
		return nil, notFollowed(status, "the server redirects to another place, which is not followed: "+
			excerpt([]byte(to.Scheme+"://"+to.Host)))
	case !keeps && resp.Request.Method != http.MethodGet:
		return nil, notFollowed(status, "the server redirects within "+excerpt([]byte(to.Host))+
			" with a status that would drop the message")
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	return to, nil
}

func notFollowed(status int, text string) *HTTPError {
	return &HTTPError{Status: status, Text: text, Delivery: NotSent}
}

func noRight(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// Origin returns the scheme, host and port of u in one spelling (RFC 6454 section 4): it is the same whether u has the
// default port of the scheme or none.
func Origin(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	switch {
	case port == "" && scheme == "https":
		port = "443"
	case port == "" && scheme == "http":
		port = "80"
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// pause waits for d. If ctx ends first, it returns the cause.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unexpected returns the error for a successful response that is no answer.
func unexpected(resp *http.Response, d Delivery) *HTTPError {
	head, err := io.ReadAll(io.LimitReader(resp.Body, excerptSource))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && len(head) == 0 {
		return &HTTPError{Status: resp.StatusCode, Text: "the answer broke off", Delivery: d, Err: err}
	}
	kind := mediaType(resp.Header)
	switch {
	case len(head) == 0:
		return &HTTPError{Status: resp.StatusCode, Text: "the answer to a request is empty", Delivery: d}
	case kind == "":
		kind = "of no said type"
	}
	text := "the answer is " + excerpt([]byte(kind)) + ", not JSON and not an event stream: " + excerpt(head)
	return &HTTPError{Status: resp.StatusCode, Text: text, Delivery: d}
}

const (
	dialTimeout = 30 * time.Second
	tlsTimeout  = 10 * time.Second
	// idleConnTimeout counts only for connections that carry no exchange.
	idleConnTimeout = 90 * time.Second
	// A dead network is detected by an unanswered ping, not by silence, since a tool that works may be silent.
	pingAfter   = 15 * time.Second
	pingTimeout = 15 * time.Second
)

// roundTripper is the HTTP client of one transport. It sets no limit on how long an answer may take, since a slow tool
// has slow headers. Like any http.RoundTripper, it follows no redirects.
//
// It keeps a set of all connections that it has opened, because http.Transport forgets those that are still busy when
// the idle ones are closed: an aborted HTTP/2 stream keeps its connection busy for a moment longer.
type roundTripper struct {
	*http.Transport
	fresh func() *http.Transport // returns a transport that opens a connection for each request

	mu     sync.Mutex
	closed bool                  // guarded by mu
	conns  map[*ownConn]struct{} // guarded by mu; nil once closed
}

// ownConn removes itself from the set of its roundTripper when it is closed.
type ownConn struct {
	net.Conn
	of *roundTripper
}

func newRoundTripper() *roundTripper {
	return roundTripperOver((&net.Dialer{Timeout: dialTimeout}).DialContext)
}

func roundTripperOver(dial func(ctx context.Context, network, address string) (net.Conn, error)) *roundTripper {
	r := &roundTripper{conns: map[*ownConn]struct{}{}}
	r.Transport = &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return r.keep(c)
		},
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleConnTimeout,
		MaxIdleConnsPerHost:    128,
		MaxResponseHeaderBytes: bounds.HeaderBytes,
		ForceAttemptHTTP2:      true, // a DialContext would turn it off
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	r.fresh = sync.OnceValue(func() *http.Transport {
		t := r.Clone()
		t.DisableKeepAlives = true
		return t
	})
	return r
}

func (r *roundTripper) keep(c net.Conn) (net.Conn, error) {
	own := &ownConn{Conn: c, of: r}
	r.mu.Lock()
	closed := r.closed
	if !closed {
		r.conns[own] = struct{}{}
	}
	r.mu.Unlock()
	if closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	return own, nil
}

func (c *ownConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// close closes every connection, busy or not, including those that are still being dialled. No request succeeds after
// it.
func (r *roundTripper) close() {
	r.CloseIdleConnections()
	r.mu.Lock()
	conns := r.conns
	r.conns, r.closed = nil, true
	r.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}
