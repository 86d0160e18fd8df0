package transport

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkWeb is a server of the official Go SDK, with a tool that runs until it is cancelled and one that returns at once.
func sdkWeb(t *testing.T, modern bool) (o HTTPOptions, count *connCount, began, ended chan struct{}) {
	began, ended = make(chan struct{}, 10), make(chan struct{}, 10)
	server := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	type none struct{}
	sdk.AddTool(server, &sdk.Tool{Name: "slow"}, func(ctx context.Context, r *sdk.CallToolRequest,
		_ none) (*sdk.CallToolResult, any, error) {
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(),
			Progress: 1})
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, nil, ctx.Err()
	})
	sdk.AddTool(server, &sdk.Tool{Name: "quick"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult,
		any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
	})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return server
	}, &sdk.StreamableHTTPOptions{PropagateRequestCancellation: true, Stateless: modern})
	_, count, o = socketServer(t, h.ServeHTTP, false)
	return o, count, began, ended
}

func sdkNext(t *testing.T, s *Streamable, stream, text string) {
	t.Helper()
	r, err := s.Receive()
	if err != nil || r.FailedID != "" || r.Stream != stream || !strings.Contains(string(r.Body), text) {
		t.Fatalf("received %s of %q, failed %q: %v; %v; want %s", r.Body, r.Stream, r.FailedID, r.Err, err, text)
	}
}

func TestGoSDKServerLegacy(t *testing.T) {
	o, count, began, ended := sdkWeb(t, false)
	s := NewStreamable(o)
	s.Speak(false, "")
	s.Send(Message{ID: "0", Method: "initialize",
		Body: []byte(
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)})
	sdkNext(t, s, "0", `"protocolVersion":"2025-11-25"`)
	s.Speak(false, "2025-11-25")
	s.Send(Message{Method: "notifications/initialized", Body: message("", "notifications/initialized")})
	call := func(id, tool string) {
		s.Send(Message{ID: id, Method: "tools/call", Body: fmt.Appendf(nil,
			`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"progressToken":%s}}}`,
			id, tool, id)})
	}
	call("1", "slow")
	hangs(t, began, "the tool")
	sdkNext(t, s, "1", "notifications/progress")
	s.CancelAndAbort("1", cancelNote, func(error) {})
	hangs(t, ended, "its cancellation")
	call("2", "quick")
	for { // the SDK answers cancelled calls, sometimes in time
		r, err := s.Receive()
		if err != nil || r.FailedID != "" {
			t.Fatal(r.Err, err)
		}
		if r.Stream == "2" && strings.Contains(string(r.Body), "done") {
			break
		}
	}
	_ = s.Close()
	count.gone(t)
}

func TestGoSDKServerModern(t *testing.T) {
	o, count, began, ended := sdkWeb(t, true)
	s := NewStreamable(o)
	s.Speak(true, "2026-07-28")
	call := func(id, tool string) {
		s.Send(Message{ID: id, Method: "tools/call", Name: tool, Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{},
			"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`, id, tool)})
	}
	call("1", "slow")
	hangs(t, began, "the tool")
	s.Abort("1")
	hangs(t, ended, "its cancellation")
	call("2", "quick")
	sdkNext(t, s, "2", "done")
	s.Send(Message{ID: "3", Method: "no/such",
		Body: []byte(
			`{"jsonrpc":"2.0","id":3,"method":"no/such","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)})
	sdkNext(t, s, "3", "-32601")
	_ = s.Close()
	count.gone(t)
}
