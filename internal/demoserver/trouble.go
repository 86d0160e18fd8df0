package demoserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type echoArgs struct {
	Text string `json:"text" jsonschema:"what to say back"`
}

type crashArgs struct {
	Code int `json:"code,omitempty" jsonschema:"the exit status"`
}

type floodArgs struct {
	Events int `json:"events,omitempty" jsonschema:"how many progress notifications, and as many log messages, to send"`
}

type bigArgs struct {
	Bytes int `json:"bytes,omitempty" jsonschema:"the length of the text to answer"`
}

type addToolArgs struct {
	Name string `json:"name" jsonschema:"the name of the new tool"`
}

// addTroubles adds the simplest tool, and the tools that cause trouble on purpose.
func (d *demo) addTroubles() {
	add(d, spec{
		name: "echo", title: "Echo",
		description: "Says the text back.",
	}, echo)

	add(d, spec{
		name: "crash", title: "Crash",
		description: "Ends the server's process in the middle of the call.",
		traits:      harmful,
		bounds:      map[string]bound{"code": {0, 125, 1}},
	}, func(_ context.Context, c *call, in crashArgs) (*mcp.CallToolResult, any, error) {
		c.opts.Exit(in.Code)
		return nil, nil, fmt.Errorf("still alive after exit %d", in.Code)
	})

	add(d, spec{
		name: "flood", title: "Flood",
		description: "Sends a storm of progress notifications and log messages as fast as it can.",
		bounds:      map[string]bound{"events": {1, 1e6, 1000}},
	}, func(ctx context.Context, c *call, in floodArgs) (*mcp.CallToolResult, any, error) {
		for i := range in.Events {
			if ctx.Err() != nil {
				return nil, nil, fmt.Errorf("stopped after %d of %d events: %w", i, in.Events, context.Cause(ctx))
			}
			c.progress(ctx, i+1, in.Events, "")
			c.log(ctx, "info", fmt.Sprintf("event %d", i+1))
		}
		return text("sent %d events", in.Events), nil, nil
	})

	add(d, spec{
		name: "big", title: "Big result",
		description: "Answers a text of exactly so many bytes.",
		bounds:      map[string]bound{"bytes": {0, 512 << 20, 1 << 20}},
	}, func(_ context.Context, _ *call, in bigArgs) (*mcp.CallToolResult, any, error) {
		const row = "0123456789abcdef"
		return text("%s", strings.Repeat(row, in.Bytes/len(row)+1)[:in.Bytes]), nil, nil
	})

	add(d, spec{
		name: "add_tool", title: "Add a tool",
		description: "Adds a tool to this server that says its text back, or puts it in the place of one that is there; clients are told that the list changed.",
		traits:      additive,
		patterns:    map[string]string{"name": "^[A-Za-z0-9_.-]{1,64}$"},
	}, func(_ context.Context, c *call, in addToolArgs) (*mcp.CallToolResult, any, error) {
		add(c.demo, spec{
			name: in.Name, title: "Added: " + in.Name,
			description: "Says the text back. Was added while the server ran.",
		}, echo)
		return text("added %s", in.Name), nil, nil
	})
}

func echo(_ context.Context, _ *call, in echoArgs) (*mcp.CallToolResult, any, error) {
	return text("%s", in.Text), nil, nil
}
