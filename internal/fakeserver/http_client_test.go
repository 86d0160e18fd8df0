package fakeserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// web is a client that uses only net/http.
type web struct {
	t       *testing.T
	http    *fakeserver.HTTP
	trip    http.RoundTripper
	base    string
	headers map[string]string // sent with each request
}

// overHTTP runs body in a synctest bubble, with a client of a fake HTTP server on in-memory connections.
func overHTTP(t *testing.T, s *fakeserver.Server, o fakeserver.HTTPOptions, body func(t *testing.T, w *web)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h, memory := fakeserver.NewHTTP(s, o), fakeserver.NewMemory()
		served := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = served.Serve(memory) }()
		defer h.Close()
		defer served.Close()
		trip := memory.RoundTripper()
		defer trip.CloseIdleConnections()
		body(t, &web{t: t, http: h, trip: trip, base: memory.URL(""), headers: map[string]string{}})
	})
}

// answer is the response to one request. Its events are read when a test asks for them.
type answer struct {
	t      *testing.T
	res    *http.Response
	cancel context.CancelCauseFunc
	lines  *bufio.Reader
}

var errClosed = errors.New("the client closed the exchange")

// begin sends a request. It returns a channel with the answer, nil if the connection breaks, and a function that closes
// the request, before or after its headers have come.
func (w *web) begin(verb, path, body string, headers ...string) (answered <-chan *answer, close func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancelCause(w.t.Context())
	r, err := http.NewRequestWithContext(ctx, verb, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body == "" {
		r.Body, r.ContentLength = nil, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range w.headers {
		r.Header.Set(name, value)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answers := make(chan *answer, 1)
	go func() {
		res, err := w.trip.RoundTrip(r)
		if err != nil {
			answers <- nil
			return
		}
		answers <- &answer{t: w.t, res: res, cancel: cancel, lines: bufio.NewReader(res.Body)}
	}()
	return answers, func() { cancel(errClosed) }
}

// do sends a request and waits for the headers of the answer.
func (w *web) do(verb, path, body string, headers ...string) *answer {
	w.t.Helper()
	answers, _ := w.begin(verb, path, body, headers...)
	select {
	case a := <-answers:
		if a == nil {
			w.t.Fatalf("%s %s: the connection broke", verb, body)
		}
		return a
	case <-time.After(time.Hour):
		w.t.Fatalf("%s %s: no answer", verb, body)
		return nil
	}
}

func (w *web) post(body string, headers ...string) *answer {
	w.t.Helper()
	return w.do(http.MethodPost, fakeserver.PathMCP, body, headers...)
}

// initialize opens a legacy session. All later requests belong to it.
func (w *web) initialize() {
	w.t.Helper()
	a := w.post(
		`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	a.has(`"id":"init"`)
	if id := a.res.Header.Get("Mcp-Session-Id"); id != "" {
		w.headers["Mcp-Session-Id"] = id
	}
	w.headers["Mcp-Protocol-Version"] = "2025-11-25"
	a.close()
	w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).status(http.StatusAccepted)
}

// modernCall returns the body and the headers of a request of 2026-07-28.
func modernCall(id int, method, params string) (body string, headers []string) {
	name := ""
	if method == "tools/call" {
		name = strings.Split(strings.Split(params, `"name":"`)[1], `"`)[0]
	}
	if params != "" {
		params += ","
	}
	body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, id, method, params, modernMeta)
	return body, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}
}

func (a *answer) status(want int) *answer {
	a.t.Helper()
	if a.res.StatusCode != want {
		a.t.Fatalf("status %d, want %d: %s", a.res.StatusCode, want, a.rest())
	}
	return a
}

// rest reads the body to its end. An error of the reader is appended in angle brackets.
func (a *answer) rest() string {
	b, err := io.ReadAll(a.lines)
	a.close()
	if err != nil {
		return string(b) + "<" + err.Error() + ">"
	}
	return string(b)
}

// event reads the next event and returns its lines, joined with "|". It returns "" at the end of the stream.
func (a *answer) event() string {
	a.t.Helper()
	var lines []string
	for {
		line, err := a.lines.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return "<" + err.Error() + ">"
			}
			return strings.Join(lines, "|")
		}
		if line = strings.TrimRight(line, "\n"); line == "" {
			return strings.Join(lines, "|")
		}
		lines = append(lines, line)
	}
}

// want reads one event, which must have the type message, this data and no id.
func (a *answer) want(data string) {
	a.t.Helper()
	if got := a.event(); got != "event: message|data: "+data {
		a.t.Fatalf("got  %s\nwant data: %s", got, data)
	}
}

// has reads the next event, which must contain all parts.
func (a *answer) has(parts ...string) string {
	a.t.Helper()
	got := a.event()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			a.t.Fatalf("got %s\nwant it to contain %s", got, p)
		}
	}
	return got
}

func (a *answer) close() {
	a.cancel(errClosed)
	_ = a.res.Body.Close()
}
