package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// sseStream is the open event stream. One goroutine reads it.
type sseStream struct {
	body     io.Closer
	events   *eventReader
	endpoint *url.URL
}

func (s *sseStream) close() { _ = s.body.Close() }

// openStream sends the GET and reads up to the endpoint.
func (c *SSE) openStream() (*sseStream, error) {
	base, err := url.Parse(c.o.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &HTTPError{Text: "the server's URL is not one of http or https"} // it may hold secrets
	}
	base.User, base.Fragment = nil, ""
	resp, err := c.send(c.ctx, nil, http.MethodGet, base, nil)
	if err != nil {
		return nil, err
	}
	s := &sseStream{body: resp.Body, events: newEventReader(resp.Body, c.o.MaxMessageBytes)}
	if err := isEventStream(resp); err != nil {
		s.close()
		return nil, err
	}
	// A redirect may have led elsewhere within the origin; a relative endpoint is one of that place.
	if s.endpoint, err = s.readEndpoint(resp.Request.URL); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func isEventStream(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return refusal(resp, "the server opened no event stream")
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "text/event-stream" {
		if kind == "" {
			kind = "something without a type"
		}
		return &HTTPError{Status: resp.StatusCode, Text: "the server sent " + bounded(kind) + " in place of an event stream"}
	}
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return &HTTPError{Status: resp.StatusCode, Text: "the event stream came in the encoding " + bounded(coding) + ", which was not asked for"}
	}
	return nil
}

// readEndpoint waits for the endpoint event (2024-11-05 basic/transports "HTTP with SSE": it comes first).
func (s *sseStream) readEndpoint(base *url.URL) (*url.URL, error) {
	for {
		ev, err := s.events.next()
		var long *eventTooLongError
		switch {
		case errors.As(err, &long):
		case err != nil:
			return nil, &HTTPError{Status: http.StatusOK, Text: "the event stream ended before it named an endpoint", Err: err}
		case ev.name == "endpoint":
			return resolveEndpoint(base, string(ev.data))
		}
	}
}

// resolveEndpoint reads the address for messages. It has to be of the server's origin, or the server could have our
// messages, and the rights that go with them, sent to somebody else.
func resolveEndpoint(base *url.URL, text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	at, err := base.Parse(text)
	if err != nil || text == "" {
		return nil, &HTTPError{Status: http.StatusOK, Text: "the server named an endpoint that is no URL"}
	}
	if origin(base) != origin(at) {
		return nil, &HTTPError{Status: http.StatusOK, Text: fmt.Sprintf("the server named an endpoint of another origin, %s; the server's own is %s", bounded(origin(at)), bounded(origin(base)))}
	}
	at.User, at.Fragment = nil, ""
	return at, nil
}

// message gives the next message; see SSE.ReadMessage for the errors. Events of other names mean nothing to us, a second
// endpoint among them: what is on its way already went to the first.
func (s *sseStream) message() ([]byte, error) {
	for {
		ev, err := s.events.next()
		var long *eventTooLongError
		switch {
		case errors.As(err, &long):
			if ev.name == "" || ev.name == "message" {
				return nil, (*MessageTooLongError)(long)
			}
		case err == io.EOF:
			return nil, io.EOF
		case err != nil:
			return nil, &HTTPError{Text: "the event stream broke off: " + bounded(err.Error()), Delivery: MayHaveRun, Err: err}
		case len(ev.data) > 0 && (ev.name == "" || ev.name == "message"):
			return ev.data, nil
		}
	}
}

// request makes one request of the connection, without what authorizes it.
func (c *SSE) request(ctx context.Context, method string, to *url.URL, body []byte) *http.Request {
	req := (&http.Request{
		Method: method, URL: to, Host: to.Host, Header: c.o.Header.Clone(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "mcphub")
	}
	if method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Accept-Encoding", "identity") // who compresses a stream holds events back
		req.Header.Set("Cache-Control", "no-cache")
		return req
	}
	setBody(req, body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Del("MCP-Protocol-Version")
	c.mu.Lock()
	revision := c.revision
	c.mu.Unlock()
	if revision >= "2025-06-18" { // dates in this form compare as text
		req.Header.Set("MCP-Protocol-Version", revision)
	}
	return req
}
