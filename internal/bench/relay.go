package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/ipc"
	"github.com/mcphub-go/mcphub/plugin"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// envEcho has the path of the relay's server program.
const envEcho = "MCPHUB_BENCH_ECHO"

// relayPlugin is the least that a hub can cost: the guarded echo's door with a session behind it, without requests,
// windows, policies or records in between. Any further cost of the hub is its own.
type relayPlugin struct {
	echoPlugin
	session *mcp.Session
}

// serveRelay serves a relay to the echo server that the environment names.
func serveRelay() int {
	return servePlugin(func(l *slog.Logger) plugin.Hub {
		r := &relayPlugin{echoPlugin: echoPlugin{options: ipc.ServerOptions(ipc.Options{Logger: l})}}
		session, err := connectSession(context.Background(),
			transport.Command{Path: os.Getenv(envEcho), Env: os.Environ()})
		if err != nil {
			panic(err) // the benchmark fails with it
		}
		r.session = session
		return r
	})
}

func (r *relayPlugin) Register(s grpc.ServiceRegistrar) {
	mcphubv1.RegisterMcpHubServiceServer(s, r)
	s.RegisterService(&probeService, struct{}{})
}

func (r *relayPlugin) Close(context.Context) error { return r.session.Close(errBenchOver) }

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
	return &mcphubv1.CallToolResponse{RequestId: "call-1", Rounds: 1,
		Outcome: &mcphubv1.CallToolResponse_ResultJson{ResultJson: string(result.Raw)}}, nil
}
