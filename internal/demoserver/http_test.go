package demoserver_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

// ways are the transports and revisions with which the SDK's client connects to the server.
var ways = []struct{ name, path, revision string }{
	{"Streamable HTTP, legacy", demoserver.PathMCP, legacy},
	{"Streamable HTTP, modern", demoserver.PathMCP, modern},
	{"SSE", demoserver.PathSSE, "2024-11-05"},
}

func TestHTTPServesTheTools(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			overHTTP(t, func(t *testing.T, w *web) {
				c := w.connectTo(w.transport(way.path), clientOptions{revision: way.revision})
				if got := c.InitializeResult().ProtocolVersion; got != way.revision {
					t.Errorf("revision %s", got)
				}
				if got, isErr := c.text("echo", map[string]any{"text": "hello"}); got != "hello" || isErr {
					t.Errorf("got %q, isError %v", got, isErr)
				}
				if got, _ := c.text("sleep", map[string]any{"seconds": 3, "steps": 3}); got != "slept 3s" {
					t.Errorf("got %q", got)
				}
				synctest.Wait()
				if n := len(c.progress); n != 3 {
					t.Errorf("%d progress notifications, want 3", n)
				}
				if err := c.Close(); err != nil {
					t.Errorf("close the client: %v", err)
				}
			})
		})
	}
}

func TestHTTPCancelStopsTheTool(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			overHTTP(t, func(t *testing.T, w *web) {
				c := w.connectTo(w.transport(way.path), clientOptions{revision: way.revision})
				begin := time.Now()
				ctx, stop := context.WithTimeoutCause(t.Context(), 2500*time.Millisecond, errStop)
				defer stop()
				if _, err := c.call(ctx, "sleep", map[string]any{"seconds": 3600}); err == nil {
					t.Fatal("the call was not cancelled")
				}
				synctest.Wait()
				if e := w.event(demoserver.EventFinished, "sleep"); e.Detail != "error" ||
					e.Time.Sub(begin) != 2500*time.Millisecond {
					t.Errorf("finished %q after %v", e.Detail, e.Time.Sub(begin))
				}
				w.event(demoserver.EventCancelled, "sleep")
				_ = c.Close()
			})
		})
	}
}

func (w *web) noted(name string) int {
	n := 0
	for _, e := range w.events() {
		if e.Event == name {
			n++
		}
	}
	return n
}

// In a legacy session the notification cancels a call. Closing the stream does not.
func TestHTTPLegacyCancelIsTheNotification(t *testing.T) {
	overHTTP(t, func(t *testing.T, w *web) {
		w.initialize(`{}`)
		x := w.post(
			`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sleep","arguments":{"seconds":60},"_meta":{"progressToken":"p"}}}`)
		x.want("notifications/progress")
		x.leave()
		time.Sleep(30 * time.Second)
		if e := w.event(demoserver.EventDisconnected, "sleep"); string(e.ID) != "7" {
			t.Errorf("disconnected: %+v", e)
		}
		if n := w.noted(demoserver.EventCancelled); n != 0 {
			t.Fatal("leaving cancelled the tool")
		}
		w.post(
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"no longer needed"}}`).leave()
		synctest.Wait()
		if e := w.event(demoserver.EventCancelReceived, ""); e.Reason != "no longer needed" || string(e.ID) != "7" {
			t.Errorf("the event is %+v, want the id 7 and the reason of the client", e)
		}
		w.event(demoserver.EventCancelled, "sleep")
		if log := w.log.String(); !strings.Contains(log, "tool sleep disconnected id=7\n") ||
			!strings.Contains(log, `cancel_received id=7 reason="no longer needed"`) {
			t.Errorf("log: %s", log)
		}
	})
}

// In 2026-07-28 closing the stream cancels the call.
func TestHTTPModernCancelIsTheClose(t *testing.T) {
	overHTTP(t, func(t *testing.T, w *web) {
		modernCall := func(id, tool, arguments string) *exchange {
			t.Helper()
			return w.post(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+
				arguments+
				`,"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
				"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", tool)
		}
		x := modernCall("7", "sleep", `{"seconds":60}`)
		x.want("notifications/progress")
		x.leave()
		synctest.Wait()
		if e := w.event(demoserver.EventDisconnected, "sleep"); string(e.ID) != "7" {
			t.Errorf("disconnected: %+v", e)
		}
		w.event(demoserver.EventCancelled, "sleep")
		// A client that leaves after the answer is not recorded as disconnected.
		x = modernCall("8", "echo", `{"text":"hi"}`)
		x.want(`"id":8`, "hi")
		x.leave()
		synctest.Wait()
		if n := w.noted(demoserver.EventDisconnected); n != 1 {
			t.Errorf("%d disconnects noted: %+v", n, w.events())
		}
	})
}

// The end of an SSE stream ends its session and cancels the calls of the session.
func TestHTTPEndOfTheStreamEndsAnSSESession(t *testing.T) {
	overHTTP(t, func(t *testing.T, w *web) {
		g := w.do(http.MethodGet, demoserver.PathSSE, "")
		endpoint := g.want("/sse?sessionid=")
		if status := w.do(http.MethodPost, endpoint,
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}`).res.StatusCode; status != http.StatusAccepted {
			t.Errorf("status %d", status)
		}
		g.want(`"id":0`, `"protocolVersion":"2024-11-05"`)
		w.do(http.MethodPost, endpoint, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).leave()
		w.do(http.MethodPost, endpoint,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"seconds":60}}}`).leave()
		synctest.Wait()
		g.leave()
		synctest.Wait()
		w.event(demoserver.EventCancelled, "sleep")
		if status := w.do(http.MethodPost, endpoint, `{}`).res.StatusCode; status != http.StatusNotFound {
			t.Errorf("status %d", status)
		}
	})
}

func TestHTTPWithdrawalCarriesItsReason(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_then_withdraw","arguments":{"after_ms":500,"reason":"not \"needed\""}}}`
	t.Run("Streamable HTTP", func(t *testing.T) {
		overHTTP(t, func(t *testing.T, w *web) {
			w.initialize(`{"elicitation":{}}`)
			x := w.post(call)
			x.want(`"method":"elicitation/create"`)
			x.want(`"method":"notifications/cancelled"`, `"reason":"not \"needed\""`)
			x.want(`"id":1`, "withdrew its question after 500 ms")
			// Without a reason the SDK's own reason is sent.
			x = w.post(strings.Replace(call, `,"reason":"not \"needed\""`, ``, 1))
			x.want(`"method":"elicitation/create"`)
			x.want(`"method":"notifications/cancelled"`, `"reason":"context canceled"`)
			x.leave()
		})
	})
	t.Run("SSE", func(t *testing.T) {
		overHTTP(t, func(t *testing.T, w *web) {
			g := w.do(http.MethodGet, demoserver.PathSSE, "")
			endpoint := g.want("/sse?sessionid=")
			for _, m := range []string{
				`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"raw","version":"0"}}}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`, call,
			} {
				w.do(http.MethodPost, endpoint, m).leave()
				synctest.Wait()
			}
			g.want(`"id":0`)
			g.want(`"method":"elicitation/create"`)
			g.want(`"method":"notifications/cancelled"`, `"reason":"not \"needed\""`)
			g.want(`"id":1`, "withdrew its question after 500 ms")
			g.leave()
		})
	})
}

// When its context ends, the server ends everything: a tool that would work for an hour, and streams that no client
// closes.
func TestHTTPEndsWithItsContext(t *testing.T) {
	overHTTP(t, func(t *testing.T, w *web) {
		c := w.connectTo(w.transport(demoserver.PathMCP), clientOptions{})
		m := w.connectTo(w.transport(demoserver.PathMCP), clientOptions{revision: modern})
		s := w.connectTo(w.transport(demoserver.PathSSE), clientOptions{revision: "2024-11-05"})
		ended := make(chan error, 3)
		for _, client := range []*client{c, m, s} {
			go func() {
				_, err := client.call(t.Context(), "sleep", map[string]any{"seconds": 3600})
				ended <- err
			}()
		}
		w.initialize(`{}`)
		g := w.do(http.MethodGet, demoserver.PathMCP, "")
		synctest.Wait()
		begin := time.Now()
		w.stop(errStop)
		<-w.done
		if d := time.Since(begin); d > time.Minute {
			t.Errorf("it took %v", d)
		}
		if n := w.noted(demoserver.EventCancelled); n != 3 {
			t.Errorf("%d tools were cancelled, want 3: %+v", n, w.events())
		}
		if n := w.noted(demoserver.EventDisconnected); n != 0 {
			t.Errorf("%d clients are said to have left", n)
		}
		for _, e := range w.events() {
			if e.Event == demoserver.EventCancelled && e.Reason != errStop.Error() {
				t.Errorf("cancelled because of %q", e.Reason)
			}
		}
		if e := w.events(); e[0].Event != demoserver.EventReady || e[len(e)-1].Event != demoserver.EventClosed {
			t.Errorf("first %v, last %v", e[0], e[len(e)-1])
		}
		g.rest()
		for _, client := range []*client{c, m, s} {
			_ = client.Close()
		}
		for range 3 {
			<-ended
		}
	})
}

func TestHTTPLetsNoForeignPageIn(t *testing.T) {
	overHTTP(t, func(t *testing.T, w *web) {
		for _, tt := range []struct {
			header, value string
			status        int
		}{
			{"Origin", "", 404},
			{"Origin", "http://localhost:5173", 404},
			{"Origin", "https://127.0.0.1", 404},
			{"Origin", "http://[::1]:1", 404},
			{"Origin", "https://evil.example", 403},
			{"Origin", "http://localhost.evil.example", 403},
			{"Origin", "null", 403},
			{"Origin", "file://localhost/x", 403},
			{"Host", "localhost:1", 404},
			{"Host", "[::1]:1", 404},
			{"Host", "LOCALHOST", 404},
			{"Host", "evil.example", 403},
			{"Host", "127.0.0.1.evil.example:1", 403},
			{"Host", "10.0.0.1", 403},
			{"Host", "0.0.0.0:1", 403},
		} {
			// There is no such session and no such path, but both are checked after the headers.
			for _, path := range []string{demoserver.PathSSE + "?sessionid=x", "/x"} {
				x := w.do(http.MethodPost, path, `{}`, tt.header, tt.value)
				if x.res.StatusCode != tt.status {
					t.Errorf("%s %q at %s: status %d, want %d", tt.header, tt.value, path, x.res.StatusCode, tt.status)
				}
				x.rest()
			}
		}
		if status := w.post(`{}`, "Origin", "https://evil.example").res.StatusCode; status != http.StatusForbidden {
			t.Errorf("status %d", status)
		}
	})
}

func TestHTTPListens(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	url := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- demoserver.RunHTTP(ctx, demoserver.HTTPOptions{Ready: func(u string) { url <- u }})
	}()
	var base string
	select {
	case base = <-url:
	case err := <-ended:
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	port := base[strings.LastIndex(base, ":"):]
	for host, status := range map[string]int{"127.0.0.1" + port: 404, "localhost" + port: 404, "127.0.0.1:1": 403,
		"127.0.0.1": 403, "evil.example" + port: 403} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("Host %q: status %d, want %d", host, res.StatusCode, status)
		}
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + demoserver.PathMCP, HTTPClient: client}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "sleep" }) {
		t.Errorf("tools %v, error %v", tools, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	stop(errStop)
	if err := <-ended; err != nil {
		t.Errorf("RunHTTP: %v", err)
	}
}

func TestHTTPRefusesToBeReachedFromAfar(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "server.example:0", "localhost"} {
		err := demoserver.RunHTTP(t.Context(), demoserver.HTTPOptions{Addr: addr})
		if _, ok := errors.AsType[*demoserver.AddressError](err); !ok || !strings.Contains(err.Error(), addr) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
