package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// tardy is an HTTP server without a network that never finishes a call: every second one hangs before its headers, the
// others on their stream.
type tardy struct {
	legacy                   bool
	calls, stopped, notified atomic.Int64
}

func (d *tardy) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	id := string(member(body, "id"))
	result := func(text string) (*http.Response, error) {
		return answer(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":`+id+`,"result":`+text+`}`), nil
	}
	switch stringOf(member(body, "method")) {
	case "":
		return answer(http.StatusMethodNotAllowed, "", ""), nil
	case protocol.MethodDiscover:
		if d.legacy {
			return answer(http.StatusBadRequest, "", ""), nil
		}
		return result(modernDiscover)
	case protocol.MethodInitialize:
		return result(legacyAnswer)
	case "notifications/cancelled":
		d.notified.Add(1)
	case protocol.MethodCallTool:
		if d.calls.Add(1)%2 == 0 {
			<-req.Context().Done()
			d.stopped.Add(1)
			return nil, context.Cause(req.Context())
		}
		resp := answer(http.StatusOK, "text/event-stream", "")
		resp.ContentLength, resp.Body = -1, &hangingBody{rest: strings.NewReader(": still here\n\n"), d: d, req: req}
		return resp, nil
	}
	return answer(http.StatusAccepted, "", ""), nil
}

// hangingBody returns a comment, and then blocks until the context of its request ends.
type hangingBody struct {
	rest *strings.Reader
	d    *tardy
	req  *http.Request
	over atomic.Bool
}

func (b *hangingBody) Read(p []byte) (int, error) {
	if b.rest.Len() > 0 {
		return b.rest.Read(p)
	}
	<-b.req.Context().Done()
	if b.over.CompareAndSwap(false, true) {
		b.d.stopped.Add(1)
	}
	return 0, context.Cause(b.req.Context())
}

func (b *hangingBody) Close() error { return nil }

// TestHTTPCancelsLeaveNothing: a thousand calls are cancelled, half of them before headers. Each exchange ends, in the
// legacy era each with a notification, and no goroutine is left: the bubble of the test would not end with one.
func TestHTTPCancelsLeaveNothing(t *testing.T) {
	for _, legacy := range []bool{true, false} {
		t.Run(fmt.Sprintf("legacy=%t", legacy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &tardy{legacy: legacy}
				s, err := Connect(context.Background(), Options{Server: "web", Handler: &recorder{},
					Open: HTTP(transport.HTTPOptions{
						URL: "https://mcp.example/", RoundTripper: d,
					})})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close(nil)
				const n = 1000
				ctx, cancel := context.WithCancelCause(context.Background())
				outs := make([]<-chan outcome, n)
				for i := range outs {
					outs[i] = begin(ctx, s, &CallRequest{Name: "t"})
				}
				synctest.Wait()
				if d.calls.Load() != n {
					t.Fatalf("%d calls have come", d.calls.Load())
				}
				cancel(&stopped{"enough"})
				for _, out := range outs {
					if o := <-out; o.err == nil {
						t.Error("a call has an answer")
					}
				}
				pass(2 * time.Second) // without headers: a second to the cancel, and one more to the end
				synctest.Wait()
				want := int64(0)
				if legacy {
					want = n
				}
				if d.stopped.Load() != n || d.notified.Load() != want {
					t.Errorf("%d exchanges have ended, %d notifications", d.stopped.Load(), d.notified.Load())
				}
				if s.InFlight() != 0 || len(s.Pending()) != 0 {
					t.Errorf("%d in flight, %d pending", s.InFlight(), len(s.Pending()))
				}
			})
		})
	}
}
