package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// closeTime limits the time for the end of a hub.
const closeTime = 10 * time.Second

// openHub starts a plugin, and gives it a config unless that is empty.
func openHub(ctx context.Context, config, command string, args ...string) (*host.Client, error) {
	client, err := host.Open(ctx, host.Options{Command: command, Args: args, Stderr: os.Stderr})
	if err != nil || config == "" {
		return client, err
	}
	r, err := client.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{
		{Scope: "host", Path: "bench.json", Json: config}}})
	if problems := r.GetProblems(); err == nil && len(problems) > 0 {
		err = fmt.Errorf("the config has problems: %v", problems)
	}
	if err != nil {
		closeHub(client)
		return nil, err
	}
	return client, nil
}

// closeHub stops a hub and waits for its end.
func closeHub(client *host.Client) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), closeTime, errTooSlow)
	defer cancel()
	if err := client.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench: closing a hub:", err)
	}
}

// server is the config of a server whose tools need no approval.
func server(command string, args ...string) map[string]any {
	return map[string]any{"command": command, "args": args, "alwaysAllow": []string{"*"}, "era": "legacy"}
}

func configJSON(servers map[string]any) string {
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		panic(err) // strings marshal
	}
	return string(text)
}

// serversJSON returns a config in which each name is an echo server.
func serversJSON(o options, names ...string) string {
	servers := map[string]any{}
	for _, name := range names {
		servers[name] = server(o.bin.echo)
	}
	return configJSON(servers)
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

// callTool calls a tool of an echo server through the hub. The answer must be a result.
func callTool(ctx context.Context, client mcphubv1.McpHubServiceClient, server, tool, arguments string) error {
	r, err := client.CallTool(ctx, &mcphubv1.CallToolRequest{Server: server, Tool: tool, ArgumentsJson: arguments})
	if err == nil && r.GetResultJson() == "" {
		err = errors.New("no result: " + r.GetError().GetMessage())
	}
	return err
}

// window is attached to a hub and reads its events, which it drops.
type window struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

// attach opens a window. One that accepts gives the same answer to every question; another leaves them all open.
func attach(ctx context.Context, client *host.Client, accepts bool) (*window, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &window{cancel: cancel, ended: make(chan struct{})}
	stream, err := client.Editor.Attach(ctx)
	if err == nil {
		hello := &mcphubv1.Hello{Title: "bench", PromptKinds: []mcphubv1.PromptKind{
			mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL, mcphubv1.PromptKind_PROMPT_KIND_SAMPLING,
			mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM, mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_URL,
		}}
		err = stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: hello}})
	}
	if err == nil {
		_, err = stream.Recv() // the welcome
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	go func() {
		defer close(w.ended)
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			if q := m.GetPromptOpened().GetPrompt(); q != nil && accepts {
				_ = stream.Send(acceptance(q.GetPromptId())) // Recv reports a stream that has ended
			}
		}
	}()
	return w, nil
}

func (w *window) close() {
	w.cancel(errBenchOver)
	<-w.ended
}

func acceptance(prompt string) *mcphubv1.AttachRequest {
	return &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{
		PromptId: prompt,
		Action:   &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{ContentJson: `{"name":"x"}`}},
	}}}
}
