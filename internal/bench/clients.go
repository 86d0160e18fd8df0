package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"time"

	mcpgoclient "github.com/mark3labs/mcp-go/client"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// The names of the subjects in the engine's rows.
const (
	floorName   = "byte loop"
	batchedName = "batched"
	engineName  = "engine"
	sessionName = "session"
	goSDKName   = "go-sdk"
	mcpGoName   = "mcp-go"
)

const revision = "2025-11-25" // the same for every client, so that none of them probes for a revision

var errBenchOver = errors.New("the benchmark is over")

var echoArguments = json.RawMessage(`{"text":"the quick brown fox jumps over the lazy dog"}`)

// openEngine opens a bare peer over the hub's own stdio transport.
func openEngine(o options) (subject, error) {
	proc, err := transport.Start(echoCommand(o))
	if err != nil {
		return subject{}, err
	}
	peer := jsonrpc.NewPeer(jsonrpc.NewLineConn(proc.Stdout(), proc.Stdin(), jsonrpc.LineConnOptions{Close: func() error {
		proc.Stop("the benchmark is over")
		return nil
	}}), jsonrpc.Options{})
	params := json.RawMessage(callParams)
	return subject{
		name: engineName,
		call: func(ctx context.Context) error {
			_, err := peer.Call(ctx, "tools/call", params)
			return err
		},
		close: func() { _ = peer.Close(errBenchOver) },
	}, nil
}

func echoCommand(o options) transport.Command {
	return transport.Command{Path: o.bin.echo, Env: os.Environ()}
}

// openSession opens the session that the hub itself uses, over the same transport.
func openSession(ctx context.Context, o options) (subject, error) {
	s, err := connectSession(ctx, echoCommand(o))
	if err != nil {
		return subject{}, err
	}
	return subject{
		name: sessionName,
		call: func(ctx context.Context) error {
			_, err := s.CallTool(ctx, &mcp.CallRequest{Name: "echo", Arguments: echoArguments,
				OnProgress: func(mcp.Progress) {}})
			return err
		},
		close: func() { _ = s.Close(errBenchOver) },
	}, nil
}

func connectSession(ctx context.Context, command transport.Command) (*mcp.Session, error) {
	return mcp.Connect(ctx, mcp.Options{
		Server: "echo", Open: mcp.Stdio(command, 0), Era: mcp.EraLegacy,
		Client: mcp.Implementation{Name: "bench", Version: "1"}, Handler: mcp.NoHandler{},
	})
}

// openGoSDK opens the official SDK's client, in the way its documentation shows.
func openGoSDK(ctx context.Context, o options) (subject, error) {
	client := gosdk.NewClient(&gosdk.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &gosdk.CommandTransport{Command: exec.Command(o.bin.echo),
		TerminateDuration: time.Second},
		&gosdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return subject{}, err
	}
	return subject{
		name: goSDKName,
		call: func(ctx context.Context) error {
			_, err := session.CallTool(ctx, &gosdk.CallToolParams{Name: "echo", Arguments: echoArguments})
			return err
		},
		close: func() { _ = session.Close() },
	}, nil
}

// openMcpGo opens mcp-go's client, in the way its documentation shows.
func openMcpGo(ctx context.Context, o options) (subject, error) {
	client, err := mcpgoclient.NewStdioMCPClient(o.bin.echo, os.Environ())
	if err != nil {
		return subject{}, err
	}
	var hello mcpgo.InitializeRequest
	hello.Params.ProtocolVersion = revision
	hello.Params.ClientInfo = mcpgo.Implementation{Name: "bench", Version: "1"}
	if _, err := client.Initialize(ctx, hello); err != nil {
		return subject{}, errors.Join(err, client.Close())
	}
	return subject{
		name: mcpGoName,
		call: func(ctx context.Context) error {
			var request mcpgo.CallToolRequest
			request.Params.Name = "echo"
			request.Params.Arguments = echoArguments
			_, err := client.CallTool(ctx, request)
			return err
		},
		close: func() { _ = client.Close() },
	}, nil
}
