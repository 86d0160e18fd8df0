package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
)

// SSE is a connection to a server of revision 2024-11-05 over HTTP (basic/transports "HTTP with SSE"): one event stream brings
// all that the server says, and what is said to it goes out as POSTs to an address that the stream names first.
//
// The stream is the connection: when it ends, everything has ended, and nothing is resumed. Connect comes first and once; then
// one goroutine reads, at any moment at most one writes, and Close and Speak may be called from anywhere.
type SSE struct {
	o   HTTPOptions
	log *slog.Logger
	rt  http.RoundTripper
	own *roundTripper // rt, when it is ours

	// ctx lives as long as the connection, and its cause is how that ended: the first call of end decides.
	ctx context.Context
	end context.CancelCauseFunc

	news   chan sseNews    // from the goroutine that reads the stream, which Connect starts
	failed chan *PostError // from WriteMessages

	mu       sync.Mutex     // guards what follows, and that work grows only before ctx has ended
	work     sync.WaitGroup // whatever uses the network: Connect, the stream's reader, WriteMessages
	endpoint *url.URL       // where messages go; nil before Connect has returned
	revision string         // see Speak
}

// sseNews is one message, or a *MessageTooLongError in its place.
type sseNews struct {
	data []byte
	err  error
}

// failedPosts is how many messages may have failed unread before WriteMessages waits for ReadMessage.
const failedPosts = 16

// NewSSE makes a connection that is not open yet. It holds nothing that had to be closed.
func NewSSE(o HTTPOptions) *SSE {
	if o.MaxMessageBytes <= 0 {
		o.MaxMessageBytes = 64 << 20
	}
	c := &SSE{o: o, log: o.Logger, rt: o.RoundTripper, news: make(chan sseNews), failed: make(chan *PostError, failedPosts)}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.rt == nil {
		c.own = newRoundTripper()
		c.rt = c.own
	}
	c.ctx, c.end = context.WithCancelCause(context.Background())
	return c
}

// Connect opens the stream and waits until the server has named the address for messages, or until ctx ends; once it has
// returned nil, ctx means nothing any more. What a server says before that is ignored. The error is a *HTTPError, whose
// Status tells what the server answered to the GET, or ErrHTTPClosed. After an error everything is closed.
func (c *SSE) Connect(ctx context.Context) error {
	err := c.connect(ctx)
	if err != nil {
		c.end(err)
		_ = c.Close()
	}
	return err
}

func (c *SSE) connect(ctx context.Context) error {
	if !c.begin() {
		return context.Cause(c.ctx)
	}
	defer c.work.Done()
	unhook := context.AfterFunc(ctx, func() { c.end(&openingEndedError{context.Cause(ctx)}) })
	s, err := c.openStream()
	if !unhook() && err == nil {
		s.close()
		c.end(&openingEndedError{context.Cause(ctx)}) // as the hook does, perhaps later
		err = context.Cause(c.ctx)
	}
	if err != nil {
		return c.openingError(err)
	}
	c.mu.Lock()
	c.endpoint = s.endpoint
	c.mu.Unlock()
	c.work.Go(func() { c.end(c.readStream(s)) })
	return nil
}

// openingEndedError is the end of a connection whose Connect was given up.
type openingEndedError struct{ cause error }

func (e *openingEndedError) Error() string { return "the opening was given up: " + e.cause.Error() }
func (e *openingEndedError) Unwrap() error { return e.cause }

// openingError says first that opening was cut short, where it was: what the network says of that tells nobody anything.
func (c *SSE) openingError(err error) error {
	cause := context.Cause(c.ctx)
	if errors.Is(cause, ErrHTTPClosed) {
		return ErrHTTPClosed
	}
	failure := failureOf(err)
	var given *openingEndedError
	if errors.As(cause, &given) {
		failure.Text = "the server named no endpoint before the opening was given up: " + bounded(given.cause.Error())
		failure.Err = given.cause
	}
	return failure
}

// readStream hands the messages of the stream to ReadMessage, and tells how the stream ended.
func (c *SSE) readStream(s *sseStream) error {
	defer s.close()
	for {
		data, err := s.message()
		var long *MessageTooLongError
		if err != nil && !errors.As(err, &long) {
			return err
		}
		select {
		case c.news <- sseNews{data, err}:
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
}

// ReadMessage gives the next message; it belongs to the caller. Two errors stand for one message each, and reading goes on: a
// *MessageTooLongError for one that came and was skipped, a *PostError for one that could not be delivered. Any other error is
// the end: io.EOF when the server closed the stream, ErrHTTPClosed, ErrSessionExpired, or a *HTTPError. It stays.
func (c *SSE) ReadMessage() ([]byte, error) {
	select {
	case n := <-c.news:
		return n.data, n.err
	case failure := <-c.failed:
		return nil, failure
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	}
}

// Speak says which revision the two sides have agreed on. From 2025-06-18 on each message carries it in MCP-Protocol-Version
// (basic/transports "Protocol Version Header"); before that there was no such header.
func (c *SSE) Speak(revision string) {
	c.mu.Lock()
	c.revision = revision
	c.mu.Unlock()
}

// Close ends the stream and what is being sent, and waits until nothing of it is left. Later calls, and calls at the same
// time, wait for the same.
func (c *SSE) Close() error {
	c.mu.Lock() // see begin
	c.end(ErrHTTPClosed)
	c.mu.Unlock()
	c.work.Wait()
	if c.own != nil {
		c.own.close()
	}
	return nil
}

// begin counts work that Close has to wait for; false when the connection has ended. It holds the lock so that Close, which
// takes it too, finds the work counted or the connection ended for whoever wants to begin.
func (c *SSE) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.work.Add(1)
	return true
}
