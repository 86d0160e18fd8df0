package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// maxPolite is how often a request is sent again to a server that asked to wait.
	maxPolite = 3
	// maxRetryAfter is the longest wait that a server may ask for; a longer one is an error at once.
	maxRetryAfter = 60 * time.Second
)

// outgoing is one HTTP request, sent as often as it takes until the server accepts to look at it.
type outgoing struct {
	method string
	header http.Header // complete, but for what the Authorizer sets
	body   []byte
	wire   *handover // nil when nobody asks how far the body has gone
}

// request makes a request to u with the headers of the config.
func (s *Streamable) request(ctx context.Context, method string, u *url.URL) *http.Request {
	return (&http.Request{
		Method: method, URL: u, Host: s.host, Header: s.header.Clone(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
}

// send sends o and returns the first answer that is not about the sending itself: signing in, waiting and one redirect are done here. An
// error has no body to close. When ctx has ended nothing further is sent.
func (s *Streamable) send(ctx context.Context, o *outgoing) (*http.Response, *HTTPError) {
	if s.url == nil {
		return nil, &HTTPError{Text: "the server's URL cannot be used: http or https and a host are needed"}
	}
	var (
		target     = s.url
		authorized bool
		repeated   bool // since the request was authorized: a nonce that came before may be old by then
		waits      int
	)
	traced := ctx
	if o.wire != nil {
		traced = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { o.wire.hand() }})
	}
	for {
		if ctx.Err() != nil || o.wire != nil && o.wire.over() {
			return nil, o.broken(ctx, "aborted before it was sent", context.Cause(ctx))
		}
		req := (&http.Request{
			Method: o.method, URL: target, Host: s.host, Header: o.header,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}).WithContext(traced)
		if o.body != nil {
			req.ContentLength = int64(len(o.body))
			// Of a reader that it knows, net/http writes head and body in one piece.
			req.Body = io.NopCloser(bytes.NewReader(o.body))
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(o.body)), nil }
		}
		if s.auth != nil {
			req.Header = o.header.Clone() // each time anew: a token may have gone
			if err := s.auth.Sign(ctx, req); err != nil {
				return nil, o.broken(ctx, "the request could not be signed", err)
			}
		}
		resp, err := s.rt.RoundTrip(req)
		if err != nil {
			return nil, o.broken(ctx, "the server was not reached, or broke off", err)
		}
		if o.wire != nil {
			o.wire.hand() // a RoundTripper of somebody else may not know of traces
		}

		if observe(s.auth, req, resp) && !repeated {
			repeated = true
			o.refused()
			discard(resp.Body)
			continue
		}
		switch status := resp.StatusCode; {
		case (status == http.StatusUnauthorized || status == http.StatusForbidden) && s.auth != nil && !authorized:
			authorized, repeated = true, false
			o.refused()
			if err := s.auth.Authorize(ctx, req, resp); err != nil {
				return nil, &HTTPError{Status: status, Text: "the server wants a sign-in, and there is none: " + excerpt([]byte(err.Error())), Delivery: NotSent, Err: err}
			}
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
			wait, asked := retryAfter(resp.Header)
			if !asked {
				wait = time.Second << waits
			}
			if waits == maxPolite || wait > maxRetryAfter {
				return nil, tooMany(resp, wait, asked, waits)
			}
			waits++
			o.refused()
			discard(resp.Body)
			if err := pause(ctx, wait); err != nil {
				return nil, o.broken(ctx, "aborted while it waited to be sent again", err)
			}
		case status >= 300 && status <= 399 && status != http.StatusNotModified:
			to, err := redirect(s.url, target, resp)
			if err != nil {
				return nil, err
			}
			target = to
			o.refused()
		default:
			return resp, nil
		}
	}
}

func (o *outgoing) refused() {
	if o.wire != nil {
		o.wire.refused()
	}
}

// broken is a failure without an answer. The errors of the HTTP client name addresses, and neither headers nor queries.
func (o *outgoing) broken(ctx context.Context, text string, err error) *HTTPError {
	e := &HTTPError{Text: text, Delivery: NotSent, Err: err}
	if o.wire == nil || o.wire.handed() {
		e.Delivery = MayHaveRun
	}
	if cause := context.Cause(ctx); cause != nil {
		e.Err = cause
	}
	if e.Err != nil {
		e.Text += ": " + excerpt([]byte(e.Err.Error()))
	}
	return e
}

// tooMany gives up on a server that asked to wait. Only 429 says for sure that nothing was done.
func tooMany(resp *http.Response, wait time.Duration, asked bool, waits int) *HTTPError {
	_, e := readRefusal(resp)
	_ = resp.Body.Close()
	e.Delivery = MayHaveRun
	if resp.StatusCode == http.StatusTooManyRequests {
		e.Delivery = NotSent
		e.Text = "too many requests: the server did nothing with this one; " + e.Text
	}
	if asked {
		e.RetryAfter = wait
	}
	if waits > 0 {
		e.Text += " (sent " + strconv.Itoa(waits+1) + " times)"
	} else {
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

// redirect tells where to send the request once more: to the same origin, once, and only where the status keeps method and body. The
// headers of the config are meant for one server and are sent to no other.
func redirect(first, target *url.URL, resp *http.Response) (*url.URL, *HTTPError) {
	status := resp.StatusCode
	defer discard(resp.Body)
	to, err := target.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil, &HTTPError{Status: status, Text: "the server redirects to nowhere", Delivery: NotSent}
	}
	switch {
	case !sameOrigin(first, to):
		return nil, &HTTPError{Status: status, Text: "the server redirects to another place, which is not followed: " + excerpt([]byte(to.Scheme+"://"+to.Host)), Delivery: NotSent}
	case status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect:
		return nil, &HTTPError{Status: status, Text: "the server redirects within " + excerpt([]byte(to.Host)) + " with a status that would drop the message", Delivery: NotSent}
	case target != first:
		return nil, &HTTPError{Status: status, Text: "the server redirects twice within " + excerpt([]byte(to.Host)), Delivery: NotSent}
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	return to, nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// pause waits for d; the error is the cause of an end of ctx.
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

// unexpected is a success that is no answer.
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
	return &HTTPError{Status: resp.StatusCode, Text: "the answer is " + excerpt([]byte(kind)) + ", not JSON and not an event stream: " + excerpt(head), Delivery: d}
}
