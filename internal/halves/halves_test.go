package halves

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// serverSide is the handler of the server. It reports how each call ended on a channel.
type serverSide struct {
	began chan struct{}
	ended chan string
	asked chan context.CancelCauseFunc // cancels the open question
}

type reason string

func (r reason) Error() string        { return string(r) }
func (r reason) CancelReason() string { return string(r) }

func (h *serverSide) Request(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	if c.Method != "tools/call" {
		return nil, mcpserver.ErrUnknownMethod
	}
	switch jsontext.String(jsontext.Get(c.Params, "name")) {
	case "echo":
		if c.ID().IsZero() {
			return nil, errors.New("a call on the wire has no id")
		}
		c.Progress(json.RawMessage(`{"progress":1.50}`))
		return json.RawMessage(`{"content":[],"n":1.0}`), nil
	case "wait":
		h.began <- struct{}{}
		<-ctx.Done()
		h.ended <- context.Cause(ctx).Error()
	case "ask":
		own, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		h.asked <- cancel
		answer, err := c.Ask(own, "elicitation/create",
			json.RawMessage(`{"message":"who?","requestedSchema":{"type":"object","properties":{}}}`))
		if err != nil {
			h.ended <- err.Error()
			return json.RawMessage(`{"content":[],"n":"withdrawn"}`), nil
		}
		return json.RawMessage(`{"content":[],"n":` + string(jsontext.Get(answer, "action")) + `}`), nil
	}
	return json.RawMessage(`{"content":[]}`), nil
}

func (*serverSide) Notified(*mcpserver.Session, string, json.RawMessage) {}
func (*serverSide) Ended(*mcpserver.Session, error)                      {}

// clientSide is the handler of the client. It answers a question when the test tells it to, and reports why a question
// was closed.
type clientSide struct {
	mcp.NoHandler
	opened, answer chan struct{}
	closed         chan string
}

func (c *clientSide) Ask(ctx context.Context, _ *mcp.Question) (mcp.Answer, error) {
	c.opened <- struct{}{}
	select {
	case <-c.answer:
		return mcp.Answer{Action: mcp.Decline}, nil
	case <-ctx.Done():
		c.closed <- context.Cause(ctx).Error()
		return mcp.Answer{Action: mcp.Dismiss}, nil
	}
}

// TestHalves checks in both eras and over both bindings that the client half and the server half of the engine agree on
// a call with progress, a ping of the client, a cancel with its reason where the protocol carries one, a question that
// is answered, and a legacy question that is withdrawn.
func TestHalves(t *testing.T) {
	for _, era := range []string{mcp.EraLegacy, mcp.EraModern, mcp.EraAuto} {
		for _, binding := range []string{"stdio", "http"} {
			t.Run(era+" "+binding, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { halves(t, era, binding) })
			})
		}
	}
}

func halves(t *testing.T, era, binding string) {
	h := &serverSide{began: make(chan struct{}, 1), ended: make(chan string, 1),
		asked: make(chan context.CancelCauseFunc, 1)}
	server := mcpserver.New(mcpserver.Options{Handler: h, Info: json.RawMessage(`{"name":"s","version":"1"}`),
		Capabilities: json.RawMessage(`{"tools":{}}`)})
	person := &clientSide{opened: make(chan struct{}, 1), answer: make(chan struct{}, 1), closed: make(chan string, 1)}
	open := stdio(t, server)
	if binding == "http" {
		memory := fakeserver.NewMemory()
		web := &http.Server{Handler: server.HTTP(mcpserver.Guard{})}
		go func() { _ = web.Serve(memory) }()
		client := memory.RoundTripper()
		t.Cleanup(func() {
			client.CloseIdleConnections()
			_ = web.Close()
		})
		open = mcp.HTTP(transport.HTTPOptions{URL: memory.URL("/"), RoundTripper: client})
	}
	s, err := mcp.Connect(t.Context(), mcp.Options{Server: "s", Open: open, Era: era, Handler: person,
		Client:       mcp.Implementation{Name: "c", Version: "1"},
		Capabilities: func() mcp.Capabilities { return mcp.Capabilities{ElicitationForm: true} }})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(nil)
	defer func() { _ = s.Close(errors.New("the test is over")) }()

	progressed := 0.0
	echo, err := s.CallTool(t.Context(), &mcp.CallRequest{Name: "echo",
		OnProgress: func(p mcp.Progress) { progressed = p.Progress }})
	if err != nil || !strings.Contains(string(echo.Raw), `"n":1.0`) || progressed != 1.5 {
		t.Errorf("echo: %v %v, progress %v", echo, err, progressed)
	}

	for _, session := range server.Sessions() { // 2026-07-28 over HTTP has none
		if err := session.Ping(t.Context()); err != nil != session.Client().Modern {
			t.Errorf("a ping of the client: %v", err)
		}
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-h.began; cancel(reason("too slow")) }()
	if _, err := s.CallTool(ctx, &mcp.CallRequest{Name: "wait"}); err == nil {
		t.Error("a cancelled call returned")
	}
	want := "too slow"
	if binding == "http" && s.Era() == mcp.Modern {
		want = "the client closed the stream"
	}
	if got := <-h.ended; !strings.HasSuffix(got, want) {
		t.Errorf("the handler ended by %q, want %q", got, want)
	}

	person.answer <- struct{}{}
	answered, err := s.CallTool(t.Context(), &mcp.CallRequest{Name: "ask"})
	if err != nil || !strings.Contains(string(answered.Raw), `"n":"decline"`) {
		t.Errorf("ask: %v %v", answered, err)
	}
	<-person.opened
	<-h.asked
	if s.Era() == mcp.Modern {
		return // in the modern era the result of the retry withdraws a question
	}
	go func() {
		<-person.opened
		(<-h.asked)(reason("no longer needed"))
	}()
	withdrawn, err := s.CallTool(t.Context(), &mcp.CallRequest{Name: "ask"})
	if err != nil || !strings.Contains(string(withdrawn.Raw), `"n":"withdrawn"`) {
		t.Errorf("withdrawn: %v %v", withdrawn, err)
	}
	if got := <-person.closed; !strings.Contains(got, "no longer needed") {
		t.Errorf("the question was closed by %q", got)
	}
}

// stdio connects client and server by a pair of pipes, as for a process.
func stdio(t *testing.T, server *mcpserver.Server) mcp.Opener {
	return func(context.Context) (*mcp.Link, error) {
		toServer, in := io.Pipe()
		out, fromServer := io.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- server.Serve(context.Background(), jsonrpc.NewLineConn(toServer, fromServer, jsonrpc.LineConnOptions{}))
		}()
		t.Cleanup(func() { <-served })
		return &mcp.Link{Conn: jsonrpc.NewLineConn(out, in, jsonrpc.LineConnOptions{})}, nil
	}
}
