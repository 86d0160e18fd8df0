package fakeserver_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// The client of the official SDK, which is not code of this project, accepts the fake server: it connects, calls,
// cancels, and resumes where the row says so.
func TestHTTPSatisfiesTheSDK(t *testing.T) {
	modern := []fakeserver.Option{fakeserver.WithModern()}
	for _, tt := range []struct {
		name, path, revision string
		opts                 []fakeserver.Option
		o                    fakeserver.HTTPOptions
		first, cancel        string // the first exchange, and the one that ended the cancelled call; "": its own
	}{
		{"legacy", fakeserver.PathMCP, "2025-11-25", nil, fakeserver.HTTPOptions{}, "POST initialize",
			"POST notifications/cancelled"},
		{"legacy, JSON", fakeserver.PathMCP, "2025-06-18", nil, fakeserver.HTTPOptions{JSON: true}, "POST initialize",
			"POST notifications/cancelled"},
		{"legacy, resumed", fakeserver.PathMCP, "2025-11-25", nil,
			fakeserver.HTTPOptions{Resumable: true}, "POST initialize", "POST notifications/cancelled"},
		{"legacy, found out", fakeserver.PathMCP, "", nil, fakeserver.HTTPOptions{}, "POST server/discover",
			"POST notifications/cancelled"},
		{"modern", fakeserver.PathMCP, "2026-07-28", modern, fakeserver.HTTPOptions{}, "POST server/discover",
			""},
		{"modern, JSON", fakeserver.PathMCP, "", modern, fakeserver.HTTPOptions{JSON: true}, "POST server/discover",
			""},
		{"SSE", fakeserver.PathSSE, "2024-11-05", nil, fakeserver.HTTPOptions{}, "GET ", "POST notifications/cancelled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fakeserver.New(tt.opts...)
			s.Tool("hello", func(c *fakeserver.CallContext) {
				c.Progress(1, 2, "half")
				c.Text("hi")
			})
			ended := make(chan error, 1)
			s.Tool("hang", func(c *fakeserver.CallContext) { ended <- c.Hang() })
			overHTTP(t, s, tt.o, func(t *testing.T, w *web) {
				if tt.o.Resumable {
					w.http.On("POST tools/call", 1, fakeserver.Act{EndAfter: 1})
				}
				client := &http.Client{Transport: w.trip}
				var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: w.base + tt.path, HTTPClient: client}
				if tt.path == fakeserver.PathSSE {
					transport = &mcp.SSEClientTransport{Endpoint: w.base + tt.path, HTTPClient: client}
				}
				c, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil).
					Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: tt.revision})
				if err != nil {
					t.Fatal(err)
				}
				p := &mcp.CallToolParams{Name: "hello"}
				p.SetProgressToken("token")
				res, err := c.CallTool(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if text, ok := res.Content[0].(*mcp.TextContent); !ok || text.Text != "hi" {
					t.Errorf("result %+v", res)
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
				defer cancel()
				if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "hang"}); err == nil {
					t.Error("the call was not cancelled")
				}
				var e *fakeserver.CancelledError
				if err := <-ended; !errors.As(err, &e) || e.Closed != (tt.cancel == "") {
					t.Errorf("the tool ended with %v", err)
				}
				synctest.Wait()
				_ = c.Close()
				var came []string
				for _, x := range w.http.Exchanges() {
					came = append(came, x.Verb+" "+x.Message.Method)
				}
				if all := strings.Join(came, "\n"); came[0] != tt.first || !strings.Contains(all, tt.cancel) ||
					tt.o.Resumable != (strings.Count(all, "GET") == 2) {
					t.Errorf("exchanges:\n%s", all)
				}
			})
		})
	}
}
