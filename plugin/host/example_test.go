package host_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// A Go program that spawns a hub, gives it a config, and calls a tool that the user has allowed.
func Example() {
	ctx, folder := context.Background(), "/repos/project"
	hub, err := host.Open(ctx, host.Options{Command: "mcphub"})
	if err != nil {
		log.Fatal(err)
	}
	defer hub.Close(ctx) // drains, stops the servers, ends the process

	_, err = hub.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{
		// Trusted: you have asked the user yourself whether this folder may start servers. Without it the hub asks, in an
		// attached window.
		Sources: []*mcphubv1.ConfigSource{{
			Path: filepath.Join(folder, ".vscode", "mcp.json"), Scope: "workspace", Folder: folder, Trusted: true,
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	res, err := hub.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{
		RequestId: "summary-1", Server: "files", Tool: "read_file", ArgumentsJson: `{"path":"README.md"}`, Preapproved: true,
	})
	if failure, ok := host.ErrorOf(err); ok {
		log.Fatalf("%s: %s", failure.Reason, failure.Message)
	}
	fmt.Println(res.GetResultJson())
	// Anywhere else, at any moment:
	// hub.Hub.CancelRequest(ctx, &mcphubv1.CancelRequestRequest{RequestId: "summary-1", Reason: "user pressed stop"})
}
