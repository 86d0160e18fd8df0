package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/internal/hostile"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// attack is one way in which a server or a workspace folder can keep a hub busy. What is only counted, not felt by
// others, is shown by the tests of internal/hostile.
type attack struct {
	about     string
	behaviour string // the argument of hostileserver, which is the server "evil"
	servers   int    // of that kind; 0: one
	accepts   bool   // the attacked window accepts every question
	drive     driver
}

// driver repeats an attack until ctx ends.
type driver func(ctx context.Context, client *host.Client, config string, began *atomic.Int64)

var attacks = []attack{
	{about: "a form that doubles 40 times", behaviour: "form-forever", accepts: true, drive: calls(1)},
	{about: "an output schema that doubles 40 times", behaviour: "output-forever", drive: calls(4)},
	{about: "tools that change in their own list", behaviour: "changes-always", drive: calls(4)},
	{about: "64 forms of 200 KiB", behaviour: "questions-large", drive: calls(1)},
	{about: "pages of 8 MiB without end", behaviour: "list-forever", drive: lists("evil")},
	{about: "small pages without end", behaviour: "list-many", drive: lists("evil")},
	{about: "an endless stderr", behaviour: "stderr", drive: calls(1)},
	{about: "logs, progress and changes", behaviour: "storm", drive: calls(4)},
	{about: "answers that nest 20,000 deep", behaviour: "deep-answer", drive: calls(4)},
	{about: "log lines of 3 MiB on stdout", behaviour: "long-log", drive: calls(4)},
	{about: "results of 32 MiB", behaviour: "large-answer", drive: calls(4)},
	{about: "a list of 50 servers that never start", behaviour: "start-never", servers: 50, drive: lists("")},
	{about: "a folder of 100,000 servers", drive: folders(hostile.ManyServers, 100_000)},
	{about: "a folder of 500,000 variables", drive: folders(hostile.ManyVariables, 500_000)},
	{about: "a folder of 2,000,000 arguments", drive: folders(hostile.ManyArguments, 2_000_000)},
}

// suffer runs the attack against a hub of its own.
func (a attack) suffer(ctx context.Context, o options, w *worst) error {
	servers := map[string]any{"good": server(o.bin.echo)} // it attacks nobody
	if a.behaviour != "" {
		for i := range max(a.servers, 1) {
			name := "evil"
			if i > 0 {
				name = fmt.Sprintf("evil-%d", i)
			}
			servers[name] = server(o.bin.hostile, a.behaviour)
		}
	}
	config := configJSON(servers)
	client, err := openHub(ctx, config, o.bin.mcphub)
	if err != nil {
		return err
	}
	defer closeHub(client)
	attacked, err := attach(ctx, client, a.accepts)
	if err != nil {
		return err
	}
	defer attacked.close()
	call := func(ctx context.Context) error { return callTool(ctx, client.Hub, "good", "echo", `{}`) }
	if err := call(ctx); err != nil { // the start of the server is not what is measured
		return err
	}
	return w.during(ctx, a.about, call, func(ctx context.Context, began *atomic.Int64) {
		a.drive(ctx, client, config, began)
	})
}

// calls calls the attacker's tool. It ignores the outcome of the calls: only the effect on others is measured.
func calls(parallel int) driver {
	return func(ctx context.Context, client *host.Client, _ string, began *atomic.Int64) {
		repeat(ctx, parallel, began, func() {
			_, _ = client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "evil", Tool: hostile.Tool}, bigAnswers)
		})
	}
}

// lists lists the tools of one server, or of all servers if server is empty.
func lists(server string) driver {
	return func(ctx context.Context, client *host.Client, _ string, began *atomic.Int64) {
		repeat(ctx, 2, began, func() {
			_, _ = client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: server}, bigAnswers)
		})
	}
}

// folders opens a workspace folder whose config file has the text that made returns for n. The host's config stays.
func folders(made func(n int) string, n int) driver {
	return func(ctx context.Context, client *host.Client, config string, began *atomic.Int64) {
		text := made(n) // not sooner: this program is also a plugin whose start is measured
		repeat(ctx, 1, began, func() {
			_, _ = client.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{
				{Scope: "host", Path: "bench.json", Json: config}, {Scope: "workspace", Path: "/folder/.mcp.json", Json: text},
			}}, bigAnswers)
		})
	}
}
