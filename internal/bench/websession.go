package main

import (
	"context"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// The names of the hub's own subjects in the rows over HTTP, by era.
const (
	legacyName = "legacy"
	modernName = "modern"
)

// openWebSession opens the session that the hub itself uses, over Streamable HTTP.
func openWebSession(ctx context.Context, url, name, era string) (subject, error) {
	s, err := mcp.Connect(ctx, mcp.Options{
		Server: "web", Open: mcp.HTTP(transport.HTTPOptions{URL: url}), Era: era,
		Client: mcp.Implementation{Name: "bench", Version: "1"}, Handler: mcp.NoHandler{},
	})
	if err != nil {
		return subject{}, fmt.Errorf("%s: %w", name, err)
	}
	return subject{
		name: name,
		call: func(ctx context.Context) error {
			_, err := s.CallTool(ctx, &mcp.CallRequest{Name: "echo", Arguments: echoArguments,
				OnProgress: func(mcp.Progress) {}})
			return err
		},
		close: func() { _ = s.Close(errBenchOver) },
	}, nil
}
