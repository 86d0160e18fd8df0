//lint:file-ignore SA1019 the SDK marks roots and sampling as deprecated with 2026-07-28; servers of older revisions live on them.

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// The tests of this file run over net/http, with connections in memory, against servers of the official Go SDK. They
// wait for events, never for time.

// recordingServer is an HTTP server that records what its clients do, in order: "POST tools/call" when a request has
// come, "gone tools/call" when its client has closed it before it was answered.
type recordingServer struct {
	*httptest.Server
	client *http.Transport

	mu   sync.Mutex // guards what follows
	seen []string
	wait map[string]chan struct{}
}

func record(t *testing.T, h http.Handler) *recordingServer {
	memory := fakeserver.NewMemory()
	r := &recordingServer{client: memory.RoundTripper(), wait: map[string]chan struct{}{}}
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		method := stringOf(member(body, "method"))
		r.add(strings.TrimSpace(req.Method + " " + method))
		over := make(chan struct{})
		stop := context.AfterFunc(req.Context(), func() {
			defer close(over)
			r.add("gone " + method)
		})
		h.ServeHTTP(w, req)
		if !stop() {
			<-over
		}
	})
	r.Server = &httptest.Server{Listener: memory, Config: &http.Server{Handler: handler}}
	r.Start()
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *recordingServer) options() transport.HTTPOptions {
	return transport.HTTPOptions{URL: r.URL, RoundTripper: r.client}
}

func (r *recordingServer) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, line)
	if c := r.wait[line]; c != nil {
		close(c)
		delete(r.wait, line)
	}
}

// await waits until a line was seen.
func (r *recordingServer) await(line string) {
	r.mu.Lock()
	c := r.wait[line]
	if c == nil && !slices.Contains(r.seen, line) {
		c = make(chan struct{})
		r.wait[line] = c
	}
	r.mu.Unlock()
	if c != nil {
		<-c
	}
}

func (r *recordingServer) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

func (r *recordingServer) count(line string) (n int) {
	for _, l := range r.lines() {
		if l == line {
			n++
		}
	}
	return n
}

// TestGoSDKServerOverHTTP: calls, progress, cancels, questions and withdrawals against servers of the Go SDK, in both
// eras and over each transport.
func TestGoSDKServerOverHTTP(t *testing.T) {
	stateful := func(p *sdkPeer) http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server }, nil)
	}
	stateless := func(p *sdkPeer) http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server },
			&sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	}
	sse := func(p *sdkPeer) http.Handler {
		return sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return p.server }, nil)
	}
	for name, c := range map[string]struct {
		handler func(p *sdkPeer) http.Handler
		open    func(transport.HTTPOptions) Opener
		setting string
		era     Era
	}{
		"legacy":               {stateful, HTTP, EraLegacy, Legacy},
		"legacy, found":        {stateful, AnyHTTP, EraAuto, Legacy},
		"modern":               {stateless, HTTP, EraAuto, Modern},
		"modern, type unknown": {stateless, AnyHTTP, EraAuto, Modern},
		"sse":                  {sse, SSE, EraAuto, Legacy},
		"sse, found":           {sse, AnyHTTP, EraAuto, Legacy},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newSDKPeer()
				web := record(t, c.handler(p))
				shared := strings.HasPrefix(name, "sse") // one stream carries the answers of all calls
				testSDKOverHTTP(t, p, web, c.open(web.options()), c.setting, c.era, shared)
			})
		})
	}
}

func testSDKOverHTTP(t *testing.T, p *sdkPeer, web *recordingServer, open Opener, setting string, era Era,
	shared bool) {
	causes, late := make(chan error, 1), make(chan struct{}, 1)
	h := &recorder{roots: []Root{{URI: "file:///w"}}, onLate: func() { late <- struct{}{} }}
	h.ask = func(ctx context.Context, q *Question) (Answer, error) {
		switch {
		case q.Kind == Sampling:
			return Answer{Action: Accept, Content: json.RawMessage(`{"role":"assistant","model":"m1","content":{"type":"text","text":"hello"}}`)},
				nil
		case q.Message == "Sure?":
			close(p.asked)
			defer close(p.gone)
			return hang(causes)(ctx, q)
		}
		return Answer{Action: Accept, Content: json.RawMessage(`{"name":"Ada"}`)}, nil
	}
	s, err := Connect(background, Options{
		Server: "sdk", Open: open, Era: setting, Client: testClient, Handler: h, Capabilities: func() Capabilities {
			return everything
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(nil)
	if s.Era() != era || s.Info().Name != "sdk" || !s.Info().HasTools {
		t.Fatalf("era %v, info %+v", s.Era(), s.Info())
	}
	if tools, err := s.ListTools(background); err != nil || len(tools) != 4 {
		t.Errorf("%d tools, %v", len(tools), err)
	}

	t.Log("progress")
	var steps []float64
	got, err := s.CallTool(background, &CallRequest{Name: "progress", OnProgress: func(p Progress) {
		steps = append(steps, p.Progress)
	}})
	if err != nil || !strings.Contains(string(got.Raw), `"done"`) || len(steps) == 0 || steps[len(steps)-1] != 3 {
		t.Errorf("%+v, %v, steps %v", got, err, steps)
	}

	t.Log("cancel")
	ctx, cancel := context.WithCancelCause(background)
	out := begin(ctx, s, &CallRequest{Name: "slow"})
	<-p.started
	cancel(&stopped{"enough"})
	var cancelled *jsonrpc.CancelledError
	if o := <-out; !errors.As(o.err, &cancelled) || !cancelled.Sent {
		t.Errorf("got %v", o.err)
	}
	if err := <-p.cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("the tool ended with %v", err)
	}
	wantCancels := 1
	if era == Modern {
		wantCancels = 0
		web.await("gone tools/call")
	}
	if n := web.count("POST notifications/cancelled"); n != wantCancels {
		t.Errorf("%d notifications, want %d: %q", n, wantCancels, web.lines())
	}

	if shared {
		<-late // until then a question could belong to either call, and so has none
	}

	t.Log("elicitation, sampling and roots in one call")
	got, err = s.CallTool(background, &CallRequest{Name: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got.Raw), `accept Ada m1 file:///w state-1`) {
		t.Errorf("got %s", got.Raw)
	}
	if era == Modern {
		return // a modern server has no requests to withdraw
	}
	t.Log("withdrawal of the server's own question")
	if _, err := s.CallTool(background, &CallRequest{Name: "withdraw"}); err != nil {
		t.Fatal(err)
	}
	var withdrawn *jsonrpc.WithdrawnError
	if cause := <-causes; !errors.As(cause, &withdrawn) || withdrawn.Reason == "" {
		t.Errorf("the question ended with %v", cause)
	}
	if err := <-p.withdrawn; err == nil {
		t.Error("the server got an answer to the question that it withdrew")
	}
	for _, q := range h.questions() {
		if q.Call == nil {
			t.Errorf("question %q has no call", q.Message)
		}
	}
}

// TestGoSDKQuestionsOfTwoCalls: two calls of one legacy session ask at the same time, and each question knows its call,
// because it comes on that call's stream.
func TestGoSDKQuestionsOfTwoCalls(t *testing.T) {
	p := newSDKPeer()
	web := record(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server }, nil))
	var both sync.WaitGroup // no answer before both are open: neither call is the only one
	both.Add(2)
	h := &recorder{ask: func(context.Context, *Question) (Answer, error) {
		both.Done()
		both.Wait()
		return Answer{Action: Accept, Content: json.RawMessage(`{}`)}, nil
	}}
	type in struct{ Say string }
	sdk.AddTool(p.server, &sdk.Tool{Name: "echo"}, func(ctx context.Context, r *sdk.CallToolRequest,
		a in) (*sdk.CallToolResult, any, error) {
		_, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: a.Say})
		return &sdk.CallToolResult{}, nil, err
	})
	s, err := Connect(background, Options{
		Server: "sdk", Open: HTTP(web.options()), Era: EraLegacy, Client: testClient, Handler: h,
		Capabilities: func() Capabilities { return everything },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(nil)
	var outs []<-chan outcome
	for _, say := range []string{"one", "two"} {
		outs = append(outs, begin(background, s, &CallRequest{Tag: say, Name: "echo", Arguments: json.RawMessage(`{"Say":"` +
			say + `"}`)}))
	}
	for _, out := range outs {
		if o := <-out; o.err != nil || o.result.IsError {
			t.Errorf("got %+v, %v", o.result, o.err)
		}
	}
	for _, q := range h.questions() {
		if q.Call == nil || q.Call.Tag != q.Message {
			t.Errorf("question %q has the call %+v", q.Message, q.Call)
		}
	}
}

// TestHTTPServerGoneForGood: a call whose connection breaks fails with what is known about it, and a start where nobody
// listens fails at once.
func TestHTTPServerGoneForGood(t *testing.T) {
	p := newSDKPeer()
	web := record(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server },
		&sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	s, err := Connect(background, Options{Server: "sdk", Open: HTTP(web.options()),
		Handler: &recorder{}, Client: testClient})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(nil)
	out := begin(background, s, &CallRequest{Name: "slow"})
	<-p.started
	web.CloseClientConnections()
	var failed *transport.HTTPError
	if o := <-out; !errors.As(o.err, &failed) || failed.Delivery != transport.MayHaveRun {
		t.Errorf("the call got %v", o.err)
	}

	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	_,
		err = Connect(background, Options{Server: "none", Open: AnyHTTP(transport.HTTPOptions{URL: "http://" +
		nobody.Addr().String()}), Handler: &recorder{}})
	var start *StartError
	if !errors.As(err, &start) || start.Stage != protocol.MethodDiscover || !errors.As(err, &failed) ||
		failed.Delivery != transport.NotSent {
		t.Errorf("the start got %v", err)
	}
}

// TestHTTPSessionDeleted: Close sends a DELETE for a legacy session; one that the server has closed ends with
// ErrSessionExpired.
func TestHTTPSessionDeleted(t *testing.T) {
	p := newSDKPeer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return p.server }, nil)
	web := record(t, handler)
	connect := func() *Session {
		s, err := Connect(background, Options{Server: "sdk", Era: EraLegacy, Open: HTTP(web.options()),
			Handler: &recorder{}, Client: testClient})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := connect()
	s.Close(nil)
	if n := web.count("DELETE"); n != 1 {
		t.Errorf("%d farewells", n)
	}
	s = connect()
	defer s.Close(nil)
	for one := range p.server.Sessions() {
		one.Close()
	}
	_, err := s.CallTool(background, &CallRequest{Name: "progress"})
	if !errors.Is(err, transport.ErrSessionExpired) {
		t.Errorf("the call got %v", err)
	}
	<-s.Done()
	if !errors.Is(s.Err(), transport.ErrSessionExpired) {
		t.Errorf("Err: %v", s.Err())
	}
}
