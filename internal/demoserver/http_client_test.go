package demoserver_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/demoserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// web is a demo server over HTTP on in-memory connections, with a raw HTTP client.
type web struct {
	*served
	memory *fakeserver.Memory
	trip   *http.Transport
	header http.Header // the headers of each raw request
}

// overHTTP runs body in a synctest bubble. It ends the server after body, unless body has ended it.
func overHTTP(t *testing.T, body func(t *testing.T, w *web)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &web{
			served: &served{
				t: t, log: &syncBuffer{}, tmp: t.TempDir(), record: filepath.Join(t.TempDir(), "record.jsonl"),
				exits: make(chan int, 1), done: make(chan struct{}),
			},
			memory: fakeserver.NewMemory(),
			header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
		}
		w.trip = w.memory.RoundTripper()
		defer w.trip.CloseIdleConnections()
		j, err := demoserver.OpenJournal(w.log, w.record)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		w.stop = stop
		go func() {
			defer close(w.done)
			w.err = demoserver.ServeHTTP(ctx, w.memory, demoserver.HTTPOptions{Options: demoserver.Options{
				Version: "1.2.3", TempDir: w.tmp, Exit: func(code int) { w.exits <- code },
			}}, j)
		}()
		body(t, w)
		stop(errTestOver)
		<-w.done
		if err := errors.Join(w.err, j.Close()); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
}

var (
	errTestOver = errors.New("test is over")
	errLeft     = errors.New("the client left")
)

// transport returns the SDK's transport for a path.
func (w *web) transport(path string) mcp.Transport {
	client := &http.Client{Transport: w.trip}
	if path == demoserver.PathSSE {
		return &mcp.SSEClientTransport{Endpoint: w.memory.URL(path), HTTPClient: client}
	}
	return &mcp.StreamableClientTransport{Endpoint: w.memory.URL(path), HTTPClient: client}
}

// exchange is a raw request and its answer.
type exchange struct {
	t     *testing.T
	res   *http.Response
	lines *bufio.Reader
	leave func()
}

func (w *web) do(verb, path, body string, header ...string) *exchange {
	w.t.Helper()
	ctx, cancel := context.WithCancelCause(w.t.Context())
	r, err := http.NewRequestWithContext(ctx, verb, w.memory.URL(path), strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header = w.header.Clone()
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	res, err := w.trip.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return &exchange{w.t, res, bufio.NewReader(res.Body), func() { cancel(errLeft); _ = res.Body.Close() }}
}

func (w *web) post(body string, header ...string) *exchange {
	w.t.Helper()
	return w.do(http.MethodPost, demoserver.PathMCP, body, header...)
}

// initialize opens a session. All later raw requests belong to it.
func (w *web) initialize(capabilities string) {
	w.t.Helper()
	x := w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` +
		capabilities + `,"clientInfo":{"name":"raw","version":"0"}}}`)
	x.want(`"id":0`, `"name":"mcphub-demo"`)
	w.header.Set("Mcp-Session-Id", x.res.Header.Get("Mcp-Session-Id"))
	w.header.Set("Mcp-Protocol-Version", legacy)
	x.leave()
	w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).leave()
}

// want reads one message of a stream. It fails the test unless the message comes within an hour of fake time and
// contains all parts.
func (x *exchange) want(parts ...string) string {
	x.t.Helper()
	data, end := make(chan string, 1), make(chan error, 1)
	go func() {
		for {
			line, err := x.lines.ReadString('\n')
			if text, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(text) != "" {
				data <- strings.TrimSpace(text)
				return
			}
			if err != nil {
				end <- err
				return
			}
		}
	}()
	select {
	case got := <-data:
		for _, p := range parts {
			if !strings.Contains(got, p) {
				x.t.Fatalf("got %s\nwant it to contain %s", got, p)
			}
		}
		return got
	case err := <-end:
		x.t.Fatalf("the stream ended (%v), want %q", err, parts)
	case <-time.After(time.Hour):
		x.t.Fatalf("nothing came, want %q", parts)
	}
	return ""
}

func (x *exchange) rest() string {
	b, _ := io.ReadAll(x.lines)
	x.leave()
	return string(b)
}
