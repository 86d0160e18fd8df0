package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// sseStream is the open event stream. One goroutine reads it.
type sseStream struct {
	body     io.Closer
	events   *eventReader
	endpoint *url.URL
}

func (s *sseStream) close() {
	s.events.release()
	_ = s.body.Close()
}

// openEndpoint sends the GET and reads until the endpoint event.
func (c *SSE) openEndpoint() (*sseStream, *HTTPError) {
	header := binding{}.streamHeader(c.sender, "", "")
	header["Accept-Encoding"] = []string{"identity"} // compression would hold events back
	resp, failed := c.openStream(c.ctx, header)
	if failed != nil {
		return nil, failed
	}
	s := &sseStream{body: resp.Body, events: newEventReader(resp.Body, c.max, c.held)}
	// A redirect may have led elsewhere within the origin; a relative endpoint is relative to that address.
	if s.endpoint, failed = s.readEndpoint(resp.Request.URL); failed != nil {
		s.close()
		return nil, failed
	}
	return s, nil
}

// readEndpoint waits for the endpoint event (2024-11-05 basic/transports "HTTP with SSE": it comes first).
func (s *sseStream) readEndpoint(base *url.URL) (*url.URL, *HTTPError) {
	for {
		ev, err := s.events.next()
		var long *jsontext.TooLongError
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

// resolveEndpoint returns the address for messages. It must be of the server's origin: otherwise the server could have
// the client's messages, with its rights, sent to somebody else.
func resolveEndpoint(base *url.URL, text string) (*url.URL, *HTTPError) {
	text = strings.TrimSpace(text)
	at, err := base.Parse(text)
	if err != nil || text == "" {
		return nil, &HTTPError{Status: http.StatusOK, Text: "the server named an endpoint that is no URL"}
	}
	if own, named := Origin(base), Origin(at); own != named {
		return nil, &HTTPError{Status: http.StatusOK, Text: fmt.Sprintf(
			"the server named an endpoint of another origin, %s; the server's own is %s", excerpt([]byte(named)),
			excerpt([]byte(own)))}
	}
	at.User, at.Fragment = nil, ""
	return at, nil
}

// readStream passes the messages of the stream to Receive, and returns how the stream ended. A second endpoint event is
// ignored, since messages have been sent to the first.
func (c *SSE) readStream(s *sseStream) error {
	defer s.close()
	var at place // nothing is resumed
	for {
		ev, err := s.events.message(&at)
		r := Received{Err: err}
		switch {
		case err == nil:
			r = c.received(ev.data)
			r.Hold = ev.hold
		case errors.As(err, new(*jsontext.TooLongError)):
		case err == io.EOF:
			return err
		default:
			return &HTTPError{Text: "the event stream broke off: " + excerpt([]byte(err.Error())), Delivery: MayHaveRun,
				Err: err}
		}
		c.deliver(c.ctx, item{Received: r})
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
	}
}
