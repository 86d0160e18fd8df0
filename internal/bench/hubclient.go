package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// closeTime limits the time for the end of a hub.
const closeTime = 10 * time.Second

// openHub starts a hub and configures the servers; each of them is the echo server.
func openHub(ctx context.Context, o options, command string, args []string, servers ...string) (*host.Client, error) {
	client, err := host.Open(ctx, host.Options{Command: command, Args: args, Env: []string{envEcho + "=" + o.bin.echo},
		Stderr: os.Stderr})
	if err != nil {
		return nil, err
	}
	if len(servers) == 0 {
		return client, nil
	}
	entries := map[string]any{}
	for _, name := range servers {
		entries[name] = map[string]any{"command": o.bin.echo, "alwaysAllow": []string{"*"}, "era": "legacy"}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err == nil {
		err = reload(ctx, client, string(text))
	}
	if err != nil {
		closeHub(client)
		return nil, err
	}
	return client, nil
}

func reload(ctx context.Context, client *host.Client, config string) error {
	r,
		err := client.Servers.ReloadConfig(ctx,
		&mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "bench.json", Json: config}}})
	if err != nil {
		return err
	}
	if problems := r.GetProblems(); len(problems) > 0 {
		return fmt.Errorf("the config has problems: %v", problems)
	}
	return nil
}

// bigAnswers allows a list of many requests: gRPC's own limit is 4 MiB.
var bigAnswers = grpc.MaxCallRecvMsgSize(64 << 20)

// closeHub stops a hub and waits for its end.
func closeHub(client *host.Client) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), closeTime, errTooSlow)
	defer cancel()
	if err := client.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench: closing a hub:", err)
	}
}

// serverNames returns n names.
func serverNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("server-%02d", i)
	}
	return names
}

// startServers connects the servers, one after the other.
func startServers(ctx context.Context, client *host.Client, names []string) error {
	for _, name := range names {
		if _, err := client.Servers.StartServer(ctx, &mcphubv1.StartServerRequest{Server: name}); err != nil {
			return fmt.Errorf("server %s: %w", name, err)
		}
	}
	return nil
}

// callTool calls a tool of the echo server through the hub. The answer must be a result.
func callTool(ctx context.Context, client mcphubv1.McpHubServiceClient, server, tool,
	arguments string) (string, error) {
	r, err := client.CallTool(ctx, &mcphubv1.CallToolRequest{Server: server, Tool: tool, ArgumentsJson: arguments})
	if err != nil {
		return "", err
	}
	if r.GetResultJson() == "" {
		return "", errors.New("no result: " + r.GetError().GetMessage())
	}
	return r.GetResultJson(), nil
}
