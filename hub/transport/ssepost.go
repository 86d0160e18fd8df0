package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	// postLimit is how long a server may take to answer a POST. It answers at once, because results come on the stream.
	postLimit = 30 * time.Second
	// drainLimit bounds how long and how far the body of an answer is read, only so that its connection can be used again.
	drainLimit = time.Second
	drainBytes = 16 << 10
	// maxRedirects within the origin; the usual one adds a slash.
	maxRedirects = 5
)

var (
	errPostLimit = errors.New("the server did not answer a POST within 30 s")
	errPostOver  = errors.New("the POST is over")
)

// WriteMessages sends the messages, one POST after the other. A message that a server refuses or that cannot be sent is
// reported by ReadMessage as a *PostError, and the next one goes out. The error is how the connection ended. A POST that Close
// cuts is no error: who closes asks for nothing more.
func (c *SSE) WriteMessages(batch [][]byte) error {
	if !c.begin() {
		return context.Cause(c.ctx)
	}
	defer c.work.Done()
	c.mu.Lock()
	endpoint := c.endpoint
	c.mu.Unlock()
	if endpoint == nil {
		return errors.New("the connection is not open yet")
	}
	for _, msg := range batch {
		// A copy: net/http may read on after an exchange was cut, and a failed message outlives the call.
		c.post(endpoint, bytes.Clone(msg))
		if c.ctx.Err() == nil {
			continue
		}
		if cause := context.Cause(c.ctx); !errors.Is(cause, ErrHTTPClosed) {
			return cause
		}
		return nil
	}
	return nil
}

func (c *SSE) post(to *url.URL, msg []byte) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(errPostOver)
	clock := time.AfterFunc(postLimit, func() { cancel(errPostLimit) })
	defer clock.Stop()

	resp, err := c.send(ctx, clock, http.MethodPost, to, msg)
	if err == nil {
		if resp.StatusCode/100 == 2 {
			drain(resp, cancel)
			return
		}
		err = refusal(resp, "the server refused a message")
		_ = resp.Body.Close()
	}
	if c.ctx.Err() != nil {
		return
	}
	failure := failureOf(err)
	if failure.Status == http.StatusNotFound {
		c.end(ErrSessionExpired)
		return
	}
	c.log.Warn("a message was not delivered", "status", failure.Status, "bytes", len(msg))
	select {
	case c.failed <- &PostError{Message: msg, Err: failure}:
	case <-c.ctx.Done():
	}
}

// drain reads what comes with a good answer, so that the connection can be used again. It says nothing.
func drain(resp *http.Response, cancel context.CancelCauseFunc) {
	clock := time.AfterFunc(drainLimit, func() { cancel(errPostOver) })
	_, _ = io.CopyN(io.Discard, resp.Body, drainBytes)
	clock.Stop()
	_ = resp.Body.Close()
}

// send sends one request. It follows redirects within the origin, and asks once for other rights where a server refuses
// those that were shown. clock, if there is one, stands still meanwhile: that may take a person.
func (c *SSE) send(ctx context.Context, clock *time.Timer, method string, to *url.URL, body []byte) (*http.Response, error) {
	asked, repeated := false, false
	for hops := 0; ; {
		req := c.request(ctx, method, to, body)
		if c.o.Auth != nil {
			if err := c.o.Auth.Sign(ctx, req); err != nil {
				return nil, &HTTPError{Text: "the request could not be signed: " + bounded(err.Error()), Err: err}
			}
		}
		resp, err := c.rt.RoundTrip(req)
		if err != nil {
			return nil, unreachable(ctx, err)
		}
		resp.Request = req
		if observe(c.o.Auth, req, resp) && !repeated {
			repeated = true
			discard(resp.Body)
			continue
		}
		switch code := resp.StatusCode; {
		case c.o.Auth != nil && !asked && (code == http.StatusUnauthorized || code == http.StatusForbidden):
			asked, repeated = true, false
			if clock != nil {
				clock.Stop()
			}
			if err := c.o.Auth.Authorize(ctx, req, resp); err != nil {
				return nil, &HTTPError{Status: code, Text: "the sign-in failed: " + bounded(err.Error()), Err: err}
			}
			if clock != nil {
				clock.Reset(postLimit)
			}
		case redirects(method, code):
			_ = resp.Body.Close()
			if hops++; hops > maxRedirects {
				return nil, &HTTPError{Status: code, Text: "the server redirects without end"}
			}
			if to, err = redirected(to, resp); err != nil {
				return nil, err
			}
		default:
			return resp, nil
		}
	}
}

// redirects tells whether an answer leads elsewhere. Of those to a POST, only two say that it is to stay one.
func redirects(method string, code int) bool {
	switch code {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		return method == http.MethodGet
	}
	return false
}

func redirected(from *url.URL, resp *http.Response) (*url.URL, error) {
	to, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil, &HTTPError{Status: resp.StatusCode, Text: "the server redirects to what is no URL"}
	}
	if origin(from) != origin(to) {
		return nil, &HTTPError{Status: resp.StatusCode, Text: "the server redirects to another origin, " + bounded(origin(to)) + ", which is not followed"}
	}
	to.User, to.Fragment = nil, ""
	return to, nil
}

func setBody(req *http.Request, body []byte) {
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
}
