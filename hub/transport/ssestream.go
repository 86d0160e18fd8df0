package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
func (c *SSE) openStream() (*sseStream, *HTTPError) {
	header := c.header.Clone()
	header["Accept"] = acceptStream
	header["Accept-Encoding"] = []string{"identity"} // who compresses a stream holds events back
	header["Cache-Control"] = []string{"no-cache"}
	resp, failed := c.send(c.ctx, &outgoing{method: http.MethodGet, header: header, rpc: methodGET})
	if failed != nil {
		return nil, failed
	}
	s := &sseStream{body: resp.Body, events: newEventReader(resp.Body, c.max, c.held)}
	if failed = isEventStream(resp); failed == nil {
		// A redirect may have led elsewhere within the origin; a relative endpoint is one of that place.
		s.endpoint, failed = s.readEndpoint(resp.Request.URL)
	}
	if failed != nil {
		s.events.release()
		s.close()
		return nil, failed
	}
	return s, nil
}

func isEventStream(resp *http.Response) *HTTPError {
	if resp.StatusCode != http.StatusOK {
		body, failed := readRefusal(resp)
		if failed.Status != http.StatusUnauthorized && failed.Status != http.StatusForbidden {
			failed.Text = "the server opened no event stream"
			if text := excerpt(body); text != "" {
				failed.Text += ": " + text
			}
		}
		return failed
	}
	if kind := mediaType(resp.Header); kind != "text/event-stream" {
		if kind == "" {
			kind = "something without a type"
		}
		return &HTTPError{Status: resp.StatusCode, Text: "the server sent " + excerpt([]byte(kind)) +
			" in place of an event stream"}
	}
	return foreignEncoding(resp)
}

// readEndpoint waits for the endpoint event (2024-11-05 basic/transports "HTTP with SSE": it comes first).
func (s *sseStream) readEndpoint(base *url.URL) (*url.URL, *HTTPError) {
	for {
		ev, err := s.events.next()
		var long *eventTooLongError
		switch {
		case errors.As(err, &long):
		case err != nil:
			return nil, &HTTPError{Status: http.StatusOK, Text: "the event stream ended before it named an endpoint", Err: err}
		case ev.name == "endpoint":
			defer ev.hold.Release()
			return resolveEndpoint(base, string(ev.data))
		}
		ev.hold.Release()
	}
}

// resolveEndpoint reads the address for messages. It has to be of the server's origin, or the server could have our
// messages, and the rights that go with them, sent to somebody else.
func resolveEndpoint(base *url.URL, text string) (*url.URL, *HTTPError) {
	text = strings.TrimSpace(text)
	at, err := base.Parse(text)
	if err != nil || text == "" {
		return nil, &HTTPError{Status: http.StatusOK, Text: "the server named an endpoint that is no URL"}
	}
	if !sameOrigin(base, at) {
		return nil,
			&HTTPError{Status: http.StatusOK,
				Text: fmt.Sprintf("the server named an endpoint of another origin, %s; the server's own is %s", origin(at),
					origin(base))}
	}
	at.User, at.Fragment = nil, ""
	return at, nil
}

// message gives the next message; see SSE.ReadMessage for the errors. Events of other names mean nothing to us, a
// second endpoint among them: what is on its way already went to the first.
func (s *sseStream) message() (event, error) {
	for {
		ev, err := s.events.next()
		var long *eventTooLongError
		switch {
		case errors.As(err, &long):
			if ev.name == "" || ev.name == "message" {
				return event{}, (*MessageTooLongError)(long)
			}
		case err == io.EOF:
			return event{}, io.EOF
		case err != nil:
			return event{}, &HTTPError{Text: "the event stream broke off: " + excerpt([]byte(err.Error())), Delivery: MayHaveRun,
				Err: err}
		case len(ev.data) > 0 && (ev.name == "" || ev.name == "message"):
			return ev, nil
		}
		ev.hold.Release()
	}
}

// readStream brings what comes on the stream to Receive, and tells how the stream ended.
func (c *SSE) readStream(s *sseStream) error {
	defer s.close()
	defer s.events.release()
	for {
		ev, err := s.message()
		var long *MessageTooLongError
		switch {
		case errors.As(err, &long):
			c.deliver(c.ctx, item{Received: Received{Err: long}})
		case err != nil:
			return err
		default:
			r := c.received(ev.data)
			r.Hold = ev.hold
			c.deliver(c.ctx, item{Received: r})
		}
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
	}
}

// origin is scheme, host and port in one spelling, for people.
func origin(u *url.URL) string {
	return excerpt([]byte(strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port(u))))
}
