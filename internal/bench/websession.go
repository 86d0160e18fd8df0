package main

import (
	"context"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// The subjects of the rows over HTTP that are the hub's own, by era.
const (
	legacyName = "legacy"
	modernName = "modern"
)

// openWebSession is the hub's session over Streamable HTTP: what the hub itself calls.
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
