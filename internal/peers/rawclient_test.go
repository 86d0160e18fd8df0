package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// raw is an HTTP client without an SDK. It sends only what a test tells it to.
type raw struct {
	t       testing.TB
	url     string
	headers map[string]string
	http    *http.Client
}

func newRaw(t testing.TB, url string) *raw {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &raw{t: t, url: url, headers: map[string]string{}, http: &http.Client{Transport: transport}}
}

// message is a JSON-RPC message with the members that the tests use.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// exchange is one HTTP answer, which may be a stream.
type exchange struct {
	t      testing.TB
	header http.Header
	status int
	lines  *bufio.Reader
	sse    bool
	ctx    context.Context
	abort  context.CancelCauseFunc
}

var errAborted = errors.New("the test goes away")

// send sends an HTTP request. The exchange is aborted at the end of the test at the latest.
func (r *raw) send(verb, url, body string) *exchange {
	r.t.Helper()
	patient, stop := context.WithTimeoutCause(context.Background(), faketime.Long, errors.New("the server did not answer in time"))
	ctx, abort := context.WithCancelCause(patient)
	r.t.Cleanup(func() { abort(errAborted); stop() })
	q, err := http.NewRequestWithContext(ctx, verb, url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Accept", "application/json, text/event-stream")
	if verb == http.MethodGet {
		q.Header.Set("Accept", "text/event-stream")
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	for k, v := range r.headers {
		q.Header.Set(k, v)
	}
	a, err := r.http.Do(q)
	if err != nil {
		r.t.Fatalf("%s %s: %v", verb, url, err)
	}
	r.t.Cleanup(func() { _ = a.Body.Close() })
	return &exchange{
		t: r.t, header: a.Header, status: a.StatusCode, lines: bufio.NewReader(a.Body), ctx: ctx, abort: abort,
		sse: strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream"),
	}
}

func (r *raw) post(body string) *exchange { r.t.Helper(); return r.send(http.MethodPost, r.url, body) }

// event returns the next SSE event with data. It fails the test if the stream ends first.
func (x *exchange) event() (name, data string) {
	x.t.Helper()
	if name, data = x.tryEvent(); data == "" {
		x.t.Fatal("the stream ended")
	}
	return name, data
}

// tryEvent is event, but returns no data at the end of the stream. It may be called from any goroutine.
func (x *exchange) tryEvent() (name, data string) {
	for {
		line, err := x.lines.ReadString('\n')
		if err != nil {
			return "", ""
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" && data != "":
			return name, data
		case line == "":
			name = ""
		case strings.HasPrefix(line, "event:"):
			name = strings.TrimSpace(line[len("event:"):])
		case strings.HasPrefix(line, "data:"):
			data += strings.TrimSpace(line[len("data:"):])
		}
	}
}

// next returns the next message of the answer.
func (x *exchange) next() message {
	x.t.Helper()
	var text string
	if x.sse {
		_, text = x.event()
	} else {
		body, err := io.ReadAll(x.lines)
		if err != nil {
			x.t.Fatal(err)
		}
		text = string(body)
	}
	var m message
	if err := json.NewDecoder(bytes.NewBufferString(text)).Decode(&m); err != nil {
		x.t.Fatalf("status %d, %q: %v", x.status, text, err)
	}
	return m
}

// until returns the first message for which match is true.
func (x *exchange) until(match func(message) bool) message {
	x.t.Helper()
	return messages(x.next).until(match)
}

// messages returns the next message with each call.
type messages func() message

func (next messages) until(match func(message) bool) message {
	for {
		if m := next(); match(m) {
			return m
		}
	}
}

// listen makes a call in a legacy session and returns the messages of its stream and of the GET stream: SDKs differ in
// which of the two they send their own requests on. Its goroutines end with the test.
func (r *raw) listen(call string) messages {
	r.t.Helper()
	came := make(chan message)
	var readers sync.WaitGroup
	streams := []*exchange{r.send(http.MethodGet, r.url, ""), r.post(call)}
	r.t.Cleanup(func() {
		for _, x := range streams {
			x.abort(errAborted)
		}
		readers.Wait()
	})
	for _, x := range streams {
		readers.Go(func() {
			for {
				_, data := x.tryEvent()
				if data == "" {
					return
				}
				var m message
				if json.Unmarshal([]byte(data), &m) != nil {
					continue
				}
				select {
				case came <- m:
				case <-x.ctx.Done():
					return
				}
			}
		})
	}
	return func() message {
		r.t.Helper()
		select {
		case m := <-came:
			return m
		case <-time.After(faketime.Long):
			r.t.Fatal("no message came")
			return message{}
		}
	}
}

func isMethod(method string) func(message) bool {
	return func(m message) bool { return m.Method == method }
}

func isAnswerTo(id string) func(message) bool {
	return func(m message) bool { return m.Method == "" && string(m.ID) == id }
}

const initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}},"sampling":{},"tasks":{"requests":{"elicitation":{"create":{}}}}},"clientInfo":{"name":"peers","version":"0"}}}`

// legacy opens a session over Streamable HTTP.
func legacy(t testing.TB, url string) *raw {
	t.Helper()
	r := newRaw(t, url)
	x := r.post(initialize)
	var result struct{ ProtocolVersion string }
	if err := json.Unmarshal(x.next().Result, &result); err != nil || result.ProtocolVersion != "2025-11-25" {
		t.Fatalf("initialize: %+v, %v", result, err)
	}
	session := x.header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("the server gave no session id")
	}
	r.headers["Mcp-Session-Id"], r.headers["MCP-Protocol-Version"] = session, "2025-11-25"
	if x := r.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); x.status != http.StatusAccepted {
		t.Fatalf("initialized: status %d", x.status)
	}
	return r
}

// modern sends one request of the revision 2026-07-28. params are the members of its params object.
func modern(t testing.TB, url, id, method, name, params string) *exchange {
	t.Helper()
	r := newRaw(t, url)
	r.headers["MCP-Protocol-Version"], r.headers["Mcp-Method"] = "2026-07-28", method
	if name != "" {
		r.headers["Mcp-Name"] = name
	}
	if params != "" {
		params += ","
	}
	return r.post(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params +
		`"_meta":{"progressToken":` + id + `,` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"peers","version":"0"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"sampling":{}}}}}`)
}

// lineExchange reads the messages of a server over stdio, one from each line.
func lineExchange(t testing.TB, from io.Reader) messages {
	lines := bufio.NewReader(from)
	return func() message {
		t.Helper()
		line, err := lines.ReadBytes('\n')
		var m message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return m
	}
}
