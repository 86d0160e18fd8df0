package ipc

import (
	"context"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// serve serves d on an in-memory connection. Inside a synctest bubble a goroutine that is left behind fails the test.
func serve(t *testing.T, d domain, o Options) *grpc.ClientConn {
	t.Helper()
	s := grpc.NewServer(ServerOptions(o)...)
	register(s, d, o)
	if h, ok := d.(*fakeHub); ok {
		t.Cleanup(h.orders.Wait) // after the connection has closed
	}
	return fakeeditor.Serve(t, s, nil)
}

// realHub serves a real hub with one scriptable MCP server named "s". A test that uses gateways calls it outside a
// synctest bubble, all others inside one.
func realHub(t *testing.T, server *fakeserver.Server) (*hub.Hub, *grpc.ClientConn) {
	t.Helper()
	var mu sync.Mutex // guards processes
	var processes []*fakeserver.Process
	h := hub.New(hub.Options{Version: "test", StateDir: t.TempDir(), Open: func(config.Server, func(string)) mcp.Opener {
		return func(context.Context) (*mcp.Link, error) {
			p := server.Start(context.Background())
			mu.Lock()
			processes = append(processes, p)
			mu.Unlock()
			conn := jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: p.End})
			return &mcp.Link{Conn: conn, Kill: func(string) { p.Kill() }}, nil
		}
	}})
	conn := serve(t, wholeHub{h}, Options{})
	t.Cleanup(func() { // before the connection closes
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("closing the hub: %v", err)
		}
		for _, p := range processes {
			_ = p.Wait()
		}
	})
	_, err := mcphubv1.NewMcpServerServiceClient(conn).ReloadConfig(t.Context(), &mcphubv1.ReloadConfigRequest{
		Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "test.json", Json: `{"mcpServers":{"s":{"command":"s"}}}`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, conn
}

// pathOf returns the gRPC path of a unary method, "" if the contract has none of this name.
func pathOf(method string) string {
	for path := range orderings {
		if strings.HasSuffix(path, "/"+method) {
			return path
		}
	}
	return ""
}

// callOf returns the message that calls the method of a request.
func callOf(messageID string, request proto.Message) *mcphubv1.AttachRequest {
	m, err := mcphubv1.NewCall(pathOf(strings.TrimSuffix(string(request.ProtoReflect().Descriptor().Name()), "Request")),
		request)
	if err != nil {
		panic(err)
	}
	m.MessageId = messageID
	return m
}

func cancelMessage(messageID, requestID string) *mcphubv1.AttachRequest {
	return &mcphubv1.AttachRequest{MessageId: messageID, Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: requestID},
	}}
}

func started(id string) *event.RequestStarted {
	return &event.RequestStarted{Request: event.RequestInfo{ID: id, Server: "s", State: event.StateRunning}}
}

func progressed(id string, n int) *event.RequestProgressed {
	return &event.RequestProgressed{RequestID: id, Server: "s", State: event.StateRunning,
		Progress: &event.Progress{Progress: float64(n)}}
}

func finished(id string) *event.RequestFinished {
	return &event.RequestFinished{RequestID: id, Server: "s", State: event.StateDone}
}

// shape names messages of the hub in order, as JSON does.
func shape(messages []*mcphubv1.AttachResponse) string {
	var names []string
	for _, m := range messages {
		names = append(names, nameOf(m))
	}
	return strings.Join(names, " ")
}

// nameOf returns the JSON name of what a message of the hub holds.
func nameOf(m *mcphubv1.AttachResponse) string {
	r := m.ProtoReflect()
	return r.WhichOneof(r.Descriptor().Oneofs().ByName("event")).JSONName()
}
