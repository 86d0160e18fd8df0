package transport

import (
	"net/http"
	"net/url"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Streamable is the Streamable HTTP transport of both eras: legacy (2025-03-26 to 2025-11-25 basic/transports
// "Streamable HTTP") and modern (2026-07-28 basic/transports/streamable-http). Each request is one exchange, a POST
// with a goroutine of its own. Receive returns the messages of all exchanges. The methods may be called from any
// goroutine, Receive from one at a time.
type Streamable struct{ exchanges }

// NewStreamable returns a transport, which sends nothing before Send. If the URL cannot be used, each request fails.
func NewStreamable(o HTTPOptions) *Streamable {
	s := &Streamable{}
	s.begin(o, s)
	return s
}

func (s *Streamable) address() *url.URL { return s.url }

func (s *Streamable) strayCancel() bool { return false }

// converse implements dialect. It posts the request and delivers the messages up to the answer. It returns nil if the
// answer was delivered or the transport has ended.
func (s *Streamable) converse(ex *exchange) *HTTPError {
	resp, err := s.postRequest(ex)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return s.refused(ex, resp)
	}
	if ex.m.Method == "initialize" && !ex.modern {
		if err := s.beginSession(ex, resp); err != nil {
			return err
		}
	}
	if err := foreignEncoding(resp); err != nil {
		return err
	}
	switch mediaType(resp.Header) {
	case "application/json":
		return s.readJSON(ex, resp)
	case "text/event-stream":
		return s.follow(ex, resp.Body)
	}
	return unexpected(resp, MayHaveRun)
}

// beginSession keeps the session id of the answer to initialize.
func (s *Streamable) beginSession(ex *exchange, resp *http.Response) *HTTPError {
	session := resp.Header.Get("Mcp-Session-Id")
	if len(session) > bounds.SessionIDBytes {
		return bad(resp, "the session id of the server is longer than "+bounds.Bytes(bounds.SessionIDBytes))
	}
	for _, c := range []byte(session) {
		if c < 0x21 || c > 0x7e { // 2025-11-25 basic/transports "Session Management"
			return bad(resp, "the session id of the server is not visible ASCII")
		}
	}
	ex.session = session // for its own stream, should that have to be resumed
	s.mu.Lock()
	if s.st.why != ErrSessionExpired {
		s.st.session = session
	}
	s.mu.Unlock()
	return nil
}

// readJSON delivers a JSON body.
func (s *Streamable) readJSON(ex *exchange, resp *http.Response) *HTTPError {
	hold := s.held.Hold()
	body, err := readBody(resp, s.max, hold)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return bad(resp, "the answer is empty")
	}
	if s.bring(ex, body, hold) {
		return nil
	}
	return bad(resp, "the body is not the answer to this request: "+excerpt(body))
}

// bring delivers a message that came for ex, and reports whether it was the answer. Only 2025-03-26 has arrays of
// messages.
func (s *Streamable) bring(ex *exchange, body []byte, hold *bounds.Hold) bool {
	r, answered := answerTo(ex.m.ID, body, !ex.modern && ex.revision == "2025-03-26")
	r.Hold = hold
	s.bringOne(ex, r, answered)
	return answered
}

func (s *Streamable) bringOne(ex *exchange, r Received, final bool) {
	if final {
		ex.step(exchangeEvent{what: evAnswered})
	}
	s.deliver(ex.ctx, item{Received: r, ex: ex, final: final})
}

// bad returns the error for a successful response that cannot be used.
func bad(resp *http.Response, text string) *HTTPError {
	return &HTTPError{Status: resp.StatusCode, Text: text, Delivery: MayHaveRun}
}

// foreignEncoding returns an error if the body has an encoding that was not offered. The HTTP client offers only gzip,
// and decodes it.
func foreignEncoding(resp *http.Response) *HTTPError {
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" && !resp.Uncompressed {
		return bad(resp, "the answer has an encoding that was not asked for: "+excerpt([]byte(e)))
	}
	return nil
}
