package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// SSE is a connection to a server of revision 2024-11-05 over HTTP (basic/transports "HTTP with SSE"). One event stream
// carries all messages of the server. The messages to the server are POSTs to an address that the stream names first.
//
// The stream is the connection: when it ends, everything has ended, and nothing is resumed. Each message is a POST of
// its own. The POST of a request is over when the server has answered it. A POST that is answered late, or not at all,
// fails nothing, because the answer to the request comes on the stream. Connect must be called first, and once. The
// other methods may be called from any goroutine, Receive from one at a time.
type SSE struct {
	exchanges

	endpoint *url.URL // where messages go; written by Connect, before anything is sent
}

// NewSSE returns a connection that is not open yet.
func NewSSE(o HTTPOptions) *SSE {
	c := &SSE{}
	c.begin(o, c)
	return c
}

// Connect opens the stream and waits until the server has named the address for messages, or until ctx ends. Messages
// that the server sends before the address are ignored. Once Connect has returned nil, the end of ctx has no effect.
// Its error is a *HTTPError, whose Status is the server's answer to the GET, or ErrHTTPClosed. After an error
// everything is closed.
func (c *SSE) Connect(ctx context.Context) error {
	err := c.connect(ctx)
	if err != nil {
		c.end(err, nil)
		_ = c.Close()
	}
	return err
}

func (c *SSE) connect(ctx context.Context) error {
	if !c.use() {
		return c.ending()
	}
	defer c.work.Done()
	unhook := context.AfterFunc(ctx, func() { c.stop(context.Cause(ctx)) })
	s, failed := c.openEndpoint()
	given := !unhook()
	if given && failed == nil {
		s.close()
		failed = &HTTPError{}
	}
	switch {
	case failed == nil:
	case context.Cause(c.ctx) == ErrHTTPClosed:
		return ErrHTTPClosed
	case given: // the network's error for that means nothing to people
		failed.Err = context.Cause(ctx)
		failed.Text = "the server named no endpoint before the opening was given up: " + excerpt([]byte(failed.Err.Error()))
		return failed
	default:
		return failed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.st.why != nil {
		s.close()
		return c.st.why
	}
	c.endpoint = s.endpoint
	c.work.Go(func() { c.end(c.readStream(s), nil) })
	return nil
}

// use counts work that Close has to wait for. It returns false if the connection has ended.
func (c *SSE) use() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.st.why != nil {
		return false
	}
	c.work.Add(1)
	return true
}

func (c *SSE) ending() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.st.why
}

// Close sends the cancellations that are on their way, for a second at most, ends the stream and all POSTs, and waits
// for every goroutine. Calls after the first wait for the first. Close always returns nil.
func (c *SSE) Close() error {
	c.close(func() {})
	return nil
}

func (c *SSE) address() *url.URL { return c.endpoint }

// strayCancel implements dialect. A request is open here as long as its POST is, and its answer comes later.
func (c *SSE) strayCancel() bool { return true }

// initialized implements dialect.
func (c *SSE) initialized(queued) {}

// posted implements dialect. From 2025-06-18 on each message carries the revision (basic/transports "Protocol Version
// Header").
func (c *SSE) posted(b binding, _ string, _ *Message) http.Header {
	h := c.header.Clone()
	h["Content-Type"] = jsonType
	b.set(h, "")
	return h
}

// converse implements dialect. A request fails only if the server refuses it or its POST was not written to its end:
// the answer comes on the stream.
func (c *SSE) converse(ex *exchange) *HTTPError {
	resp, failed := c.postRequest(ex)
	switch {
	case failed != nil && failed.Status == 0 && failed.Delivery == MayHaveRun:
		ex.step(ExchangeEvent{What: EvFailed, Now: time.Now()})
		c.take(ex)
		return nil
	case failed != nil:
		return failed
	case resp.StatusCode >= 200 && resp.StatusCode <= 299:
		c.take(ex)
		drain(resp, ex.cancel)
		return nil
	case resp.StatusCode == http.StatusNotFound:
		discard(resp.Body)
		c.end(ErrSessionExpired, c.metBy(ex, resp))
		return nil
	}
	_, failed = readRefusal(resp)
	_ = resp.Body.Close()
	return failed
}

// unposted implements dialect. 404 says that the server does not know this connection any more.
func (c *SSE) unposted(resp *http.Response, _ binding, _ string) *HTTPError {
	_, failed := readRefusal(resp)
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		c.end(ErrSessionExpired, nil)
	}
	return failed
}

// received handles a message of the stream. If it answers a request, it ends the POST of that: a POST that the server
// never answers would otherwise stay open as long as the connection.
func (c *SSE) received(message []byte) Received {
	r := Received{Body: message}
	c.mu.Lock()
	none := len(c.st.open) == 0 && len(c.st.cancels) == 0
	c.mu.Unlock()
	if none { // nearly always so: a server answers a POST before it works
		return r
	}
	var reader jsontext.Reader
	r.Kind = reader.Message(message, &r.Message)
	if r.Kind != jsontext.Single && r.Kind != jsontext.Deep || r.Message.Method != nil {
		return r
	}
	c.mu.Lock()
	ex := c.st.open[string(r.Message.ID)]
	if ex == nil {
		ex = c.st.cancels[string(r.Message.ID)] // its POST is over, and its cancellation is not
	}
	c.mu.Unlock()
	if ex != nil {
		ex.step(ExchangeEvent{What: EvAnswered})
		c.take(ex)
		ex.finish()
	}
	return r
}

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
