package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/ipc"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The roles of this program, chosen by its only argument.
const (
	bareEcho    = "plugin-echo"       // answers CallTool at once: gRPC and the door alone; editors/bench uses it, too
	guardedEcho = "plugin-echo-guard" // the same behind the interceptors of the hub
	relay       = "plugin-relay"      // answers from the echo server, through a session of the engine without the hub
	probedHub   = "plugin-hub"        // the real hub with a service that inspects the process
	mcpRelay    = "mcp-relay"         // no plugin: the engine's two halves as an MCP server, without the hub
	mcpRelayWeb = "mcp-relay-web"     // the same over HTTP
	webRole     = "web-server"        // no plugin: an MCP server over HTTP, in a process of its own
)

// envEcho has the path of the echo server for the roles that need one.
const envEcho = "MCPHUB_BENCH_ECHO"

var roles = map[string]func() int{
	bareEcho: func() int { return servePlugin(func(*slog.Logger) plugin.Hub { return &echoPlugin{} }) },
	guardedEcho: func() int {
		return servePlugin(func(l *slog.Logger) plugin.Hub { return &echoPlugin{options: guard(l)} })
	},
	relay: func() int {
		return servePlugin(func(l *slog.Logger) plugin.Hub {
			return &relayPlugin{echoPlugin{options: guard(l)}, connectEcho()}
		})
	},
	probedHub: func() int {
		return servePlugin(func(l *slog.Logger) plugin.Hub {
			return hubPlugin{hub: hub.New(hub.Options{Version: "bench", Logger: l}), ipc: ipc.Options{Logger: l}}
		})
	},
	mcpRelay:    func() int { return serveMCPRelay(false) },
	mcpRelayWeb: func() int { return serveMCPRelay(true) },
	webRole:     func() int { return serveHTTP(newWebServer(), "none") },
}

func servePlugin(makeHub func(*slog.Logger) plugin.Hub) int {
	return plugin.Serve(func(l *slog.Logger, _ func(string)) (plugin.Hub, error) { return makeHub(l), nil })
}

func guard(l *slog.Logger) []grpc.ServerOption { return ipc.ServerOptions(ipc.Options{Logger: l}) }

// connectEcho opens a relay's session with the echo server that the environment names.
func connectEcho() *mcp.Session {
	session, err := connect(context.Background(), overStdio(os.Getenv(envEcho)), mcp.EraLegacy)
	if err != nil {
		panic(err) // the benchmark fails with it
	}
	return session
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
	switch r.GetTool() {
	case "hang":
		e.hanging.Add(1)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "large":
		return answer(largeText()), nil
	}
	return answer(
		`{"content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog"}],"isError":false}`), nil
}

func answer(result string) *mcphubv1.CallToolResponse {
	return &mcphubv1.CallToolResponse{RequestId: "call-1", Rounds: 1,
		Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: result}}
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

// relayPlugin is the least that a hub can cost: the guarded echo's door with a session behind it, without requests,
// windows, policies or records in between. Any further cost of the hub is its own.
type relayPlugin struct {
	echoPlugin
	session *mcp.Session
}

func (r *relayPlugin) Register(s grpc.ServiceRegistrar) { mcphubv1.RegisterMcpHubServiceServer(s, r) }
func (r *relayPlugin) Close(context.Context) error      { return r.session.Close(errBenchOver) }

func (r *relayPlugin) CallTool(ctx context.Context,
	request *mcphubv1.CallToolRequest) (*mcphubv1.CallToolResponse, error) {
	result, err := r.session.CallTool(ctx, &mcp.CallRequest{Name: request.GetTool(),
		Arguments: []byte(request.GetArgumentsJson()), OnProgress: func(mcp.Progress) {}})
	if err != nil {
		return nil, err
	}
	if len(result.Raw) == 0 {
		return nil, errors.New("the echo server answered nothing")
	}
	return answer(string(result.Raw)), nil
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

// look is the probe's reading of its process: bytes of live objects, and of goroutine stacks in use.
type look struct{ heap, stacks float64 }

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
		runtime.GC() // FreeOSMemory collects once more, and frees what a finalizer or a pool held
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return wrapperspb.String(fmt.Sprint(m.HeapAlloc, " ", m.StackInuse)), nil
	}}},
}

// probe reads the state of a plugin's process.
func probe(ctx context.Context, client *host.Client) (l look, err error) {
	var answer wrapperspb.StringValue
	if err := client.Conn().Invoke(ctx, probeMethod, &emptypb.Empty{}, &answer); err != nil {
		return l, err
	}
	_, err = fmt.Sscan(answer.GetValue(), &l.heap, &l.stacks)
	return l, err
}

// since returns what was added since another look, in KiB for each of n things.
func (l look) since(before look, n int) look {
	each := func(a, b float64) float64 { return (a - b) / float64(n) / 1024 }
	return look{each(l.heap, before.heap), each(l.stacks, before.stacks)}
}
