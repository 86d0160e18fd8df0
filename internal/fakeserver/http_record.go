package fakeserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// Exchange is one HTTP request as it was received, and its outcome.
type Exchange struct {
	N       int    // from 1, in the order of arrival
	Verb    string // POST, GET, DELETE
	Path    string
	Header  http.Header
	Body    string
	Message Message // of Body; the zero value without one
	Status  int     // of the answer; 0 while there is none
	Events  int     // events that were written so far, including those without data
	Ended   bool    // Closed and Cut say by whom
	Closed  bool    // the client closed it before the end of the answer
	Cut     bool    // the server broke the connection
}

// exchange is the internal state of an Exchange.
type exchange struct {
	http    *HTTP
	w       http.ResponseWriter
	r       *http.Request
	act     Act
	seen    Exchange // guarded by HTTP.mu
	session *session // of a POST with a request; guarded by HTTP.mu
	reply   *stream  // likewise
}

// arrived reads the request and records it.
func (h *HTTP) arrived(w http.ResponseWriter, r *http.Request) (*exchange, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	x := &exchange{http: h, w: w, r: r}
	x.seen = Exchange{Verb: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body)}
	if len(body) > 0 {
		x.seen.Message = parse(body, 0)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	x.seen.N = len(h.exchanges) + 1
	h.exchanges = append(h.exchanges, x)
	what := x.what()
	x.act = h.actFor(what)
	h.step("%d %s", x.seen.N, what)
	return x, nil
}

// what returns the kind of a request: its verb, and the method of its message.
func (x *exchange) what() string {
	switch m := x.seen.Message; {
	case m.Method != "":
		return x.seen.Verb + " " + m.Method
	case m.IsResponse():
		return x.seen.Verb + " response"
	}
	return x.seen.Verb
}

func (h *HTTP) step(format string, args ...any) { // called with mu held
	h.steps = append(h.steps, fmt.Sprintf(format, args...))
	close(h.changed)
	h.changed = make(chan struct{})
}

// answered records the status.
func (x *exchange) answered(status int) {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	x.seen.Status = status
	x.http.step("%d status %d", x.seen.N, status)
}

// left records that the client closed the exchange.
func (x *exchange) left() {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	if !x.seen.Closed {
		x.seen.Closed = true
		x.http.step("%d closed by the client", x.seen.N)
	}
}

// over records the end of the handler.
func (x *exchange) over() {
	x.http.mu.Lock()
	defer x.http.mu.Unlock()
	x.seen.Ended = true
	if x.seen.Closed || x.seen.Cut {
		close(x.http.changed)
		x.http.changed = make(chan struct{})
		return
	}
	x.http.step("%d end", x.seen.N)
}

// Exchanges returns a copy of all exchanges so far, in the order of arrival.
func (h *HTTP) Exchanges() []Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Exchange, len(h.exchanges))
	for i, x := range h.exchanges {
		all[i] = x.seen
	}
	return all
}

// Steps returns everything that happened so far, in order, one line each: "3 POST tools/call" or "3 GET" or "3 POST
// response" when the third request came, "3 status 200" when its headers were sent, and one of "3 closed by the
// client", "3 cut" and "3 end". A client can have a complete answer before its end is recorded, so wait until nothing
// runs before you compare.
func (h *HTTP) Steps() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.steps)
}

// WaitExchange returns the first exchange that matches, now or later. The error is the cause of ctx's end.
func (h *HTTP) WaitExchange(ctx context.Context, match func(Exchange) bool) (Exchange, error) {
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		for _, x := range h.Exchanges() {
			if match(x) {
				return x, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Exchange{}, context.Cause(ctx)
		}
	}
}

// plain answers with a body. An empty contentType is left out.
func (x *exchange) plain(status int, contentType, body string) {
	if contentType != "" {
		x.w.Header().Set("Content-Type", contentType)
	}
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if !x.hold() {
		return
	}
	x.answered(status)
	x.w.WriteHeader(status)
	if _, err := x.shape().write(body); err != nil {
		x.gone(err)
	}
}

// refuse answers with a JSON-RPC error that has no id.
func (x *exchange) refuse(status int, code int64, message string) {
	x.plain(status, "application/json", string(marshal(map[string]any{
		"jsonrpc": "2.0", "error": Error{Code: code, Message: message}, "id": nil,
	})))
}

// gone ends an exchange whose body could not be written, or has to be cut off.
func (x *exchange) gone(err error) {
	if errors.Is(err, errCut) {
		x.abort()
	}
	x.left()
}

// abort breaks the connection, or resets the stream of HTTP/2. It does not return.
func (x *exchange) abort() {
	x.http.mu.Lock()
	x.seen.Cut = true
	x.http.step("%d cut", x.seen.N)
	x.http.mu.Unlock()
	panic(http.ErrAbortHandler) // net/http then breaks the connection, and logs nothing
}
