package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/ipc"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The roles of this program, chosen by its only argument.
const (
	bareEcho    = "plugin-echo"       // answers CallTool at once: gRPC and the door alone
	guardedEcho = "plugin-echo-guard" // the same behind the interceptors of the hub
	relay       = "plugin-relay"      // answers from the echo server, through a session of the engine without the hub
	probedHub   = "plugin-hub"        // the real hub with a service that inspects the process
	mcpRelay    = "mcp-relay"         // no plugin: the engine's two halves as an MCP server, without the hub
	webRole     = "web-server"        // no plugin: the MCP server over HTTP, in a process of its own
)

var plugins = map[string]func() int{
	bareEcho: func() int { return servePlugin(func(*slog.Logger) plugin.Hub { return &echoPlugin{} }) },
	guardedEcho: func() int {
		return servePlugin(func(l *slog.Logger) plugin.Hub {
			return &echoPlugin{options: ipc.ServerOptions(ipc.Options{Logger: l})}
		})
	},
	relay:    serveRelay,
	webRole:  serveWeb,
	mcpRelay: serveMCPRelay,
	probedHub: func() int {
		return servePlugin(func(l *slog.Logger) plugin.Hub {
			return hubPlugin{hub: hub.New(hub.Options{Version: "bench", Logger: l}), ipc: ipc.Options{Logger: l}}
		})
	},
}

func servePlugin(makeHub func(*slog.Logger) plugin.Hub) int {
	return plugin.Serve(plugin.Options{New: func(l *slog.Logger) (plugin.Hub, error) { return makeHub(l), nil }})
}

// echoPlugin answers calls with the text of the echo server. Its tool hang waits until its caller gives up.
type echoPlugin struct {
	mcphubv1.UnimplementedMcpHubServiceServer
	options []grpc.ServerOption
	hanging atomic.Int64
}

func (e *echoPlugin) Register(s grpc.ServiceRegistrar) {
	mcphubv1.RegisterMcpHubServiceServer(s, e)
	s.RegisterService(&probeService, struct{}{})
}
func (e *echoPlugin) ServerOptions() []grpc.ServerOption { return e.options }
func (e *echoPlugin) Close(context.Context) error        { return nil }

func (e *echoPlugin) CallTool(ctx context.Context, r *mcphubv1.CallToolRequest) (*mcphubv1.CallToolResponse, error) {
	if r.GetTool() == "hang" {
		e.hanging.Add(1)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if r.GetTool() == "large" {
		return &mcphubv1.CallToolResponse{RequestId: "call-1", Rounds: 1,
			Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: largeText()}}, nil
	}
	return &mcphubv1.CallToolResponse{RequestId: "call-1", Rounds: 1, Outcome: &mcphubv1.CallToolResponse_ResultJson{
		ResultJson: `{"content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog"}],"isError":false}`,
	}}, nil
}

// GetInfo returns the version of a hub that a host accepts.
func (e *echoPlugin) GetInfo(context.Context, *mcphubv1.GetInfoRequest) (*mcphubv1.GetInfoResponse, error) {
	return &mcphubv1.GetInfoResponse{Version: handshake.OldestHub, ProcessId: int32(os.Getpid())}, nil
}

// ListRequests returns one request for each hanging call, with only the members that hang reads.
func (e *echoPlugin) ListRequests(context.Context,
	*mcphubv1.ListRequestsRequest) (*mcphubv1.ListRequestsResponse, error) {
	running := &mcphubv1.Request{State: mcphubv1.RequestState_REQUEST_STATE_RUNNING, WireIdJson: "1"}
	return &mcphubv1.ListRequestsResponse{Requests: slices.Repeat([]*mcphubv1.Request{running}, int(e.hanging.Load()))},
		nil
}

func (e *echoPlugin) Drain(context.Context, *mcphubv1.DrainRequest) (*mcphubv1.DrainResponse, error) {
	return &mcphubv1.DrainResponse{}, nil
}

// hubPlugin is the hub as mcphub serves it, with the probe beside it.
type hubPlugin struct {
	hub *hub.Hub
	ipc ipc.Options
}

func (h hubPlugin) Register(s grpc.ServiceRegistrar) {
	ipc.Register(s, h.hub, h.ipc)
	s.RegisterService(&probeService, struct{}{})
}
func (h hubPlugin) ServerOptions() []grpc.ServerOption { return ipc.ServerOptions(h.ipc) }
func (h hubPlugin) Close(ctx context.Context) error    { return h.hub.Close(ctx) }

// look is the probe's reading of its process.
type look struct {
	Heap       uint64 // bytes of live objects, after two collections
	Stacks     uint64 // bytes of goroutine stacks in use
	Goroutines int
	CPU        time.Duration
}

const probeMethod = "/bench.Probe/Look"

// probeService is written by hand: a generated package is not worth it for one method.
var probeService = grpc.ServiceDesc{
	ServiceName: "bench.Probe",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Look", Handler: func(_ any, _ context.Context, decode func(any) error,
		_ grpc.UnaryServerInterceptor) (any, error) {
		if err := decode(&emptypb.Empty{}); err != nil {
			return nil, err
		}
		text, err := json.Marshal(lookNow())
		return wrapperspb.Bytes(text), err
	}}},
}

func lookNow() look {
	l := look{CPU: cpuTime()}
	runtime.GC() // twice: the second one frees what a finalizer or a pool held
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	l.Heap, l.Stacks, l.Goroutines = m.HeapAlloc, m.StackInuse, runtime.NumGoroutine()
	return l
}

// probe reads the state of a plugin's process, for example of a hub served as probedHub.
func probe(ctx context.Context, client *host.Client) (look, error) {
	var answer wrapperspb.BytesValue
	if err := client.Conn().Invoke(ctx, probeMethod, &emptypb.Empty{}, &answer); err != nil {
		return look{}, err
	}
	var l look
	err := json.Unmarshal(answer.GetValue(), &l)
	return l, err
}
