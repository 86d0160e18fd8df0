package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/internal/hostile"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// attack is one way in which a server or a workspace folder can harm others.
type attack struct {
	finding, about string
	behaviour      string  // the argument of hostileserver, which is the server "evil"
	servers        int     // of that kind; 0: one
	results        float64 // MiB that may be in flight
	says           string  // how the attacked window answers questions
	// drive repeats the attack until ctx ends. It returns how often the attack began.
	drive func(ctx context.Context, client *host.Client, config string) int
}

// attacks has an entry for each finding of this kind. A panic under the hub's lock has none: it is a fault of the hub,
// and no server and no folder causes it.
var attacks = []attack{
	{finding: "A1", about: "a form that refers to itself", behaviour: "form-self-ref", says: accepts, drive: calls(1)},
	{finding: "A2", about: "a form that doubles 40 times", behaviour: "form-forever", says: accepts, drive: calls(1)},
	{finding: "A2", about: "an output schema that doubles 40 times", behaviour: "output-forever", drive: calls(4)},
	{finding: "A3", about: "tools that change in their own list", behaviour: "changes-always", drive: calls(4)},
	{finding: "A4", about: "64 forms of 200 KiB", behaviour: "questions-large", drive: calls(1)},
	{finding: "A4", about: "sampling requests of 12 MiB", behaviour: "sampling-huge", drive: calls(1)},
	{finding: "A5", about: "pages of 8 MiB without end", behaviour: "list-forever", drive: lists("evil")},
	{finding: "A5", about: "small pages without end", behaviour: "list-many", drive: lists("evil")},
	{finding: "A6", about: "an endless stderr", behaviour: "stderr", drive: calls(1)},
	{finding: "A6", about: "logs, progress and changes", behaviour: "storm", drive: calls(4)},
	{finding: "A7", about: "questions after each No", behaviour: "nag", says: declines, drive: calls(1)},
	{finding: "A8", about: "answers that nest 20,000 deep", behaviour: "deep-answer", drive: calls(4)},
	{finding: "A9", about: "log lines of 3 MiB on stdout", behaviour: "long-log", drive: calls(4)},
	{finding: "A10", about: "64 open questions and pings", behaviour: "ping-beside", drive: calls(1)},
	{finding: "A11", about: "calls that end beside an open question", behaviour: "questions-large", drive: besides},
	{finding: "A13", about: "a folder of 100,000 servers", drive: folders(hostile.ManyServers, 100_000)},
	{finding: "A13", about: "a folder of 500,000 variables", drive: folders(hostile.ManyVariables, 500_000)},
	{finding: "A13", about: "a folder of 2,000,000 arguments", drive: folders(hostile.ManyArguments, 2_000_000)},
	{finding: "A14", about: "a list of 50 servers that never start", behaviour: "start-never", servers: 50,
		drive: lists("")},
	{finding: "A15", about: "results of 32 MiB", behaviour: "large-answer", results: 4 * 32, drive: calls(4)},
}

// config returns the config with the server "good", which attacks nobody, and the attacking servers.
func (a attack) config(o options) string {
	entries := map[string]any{"good": map[string]any{"command": o.bin.echo, "alwaysAllow": []string{"*"}, "era": "legacy"}}
	if a.behaviour != "" {
		for i := range max(a.servers, 1) {
			name := "evil"
			if i > 0 {
				name = fmt.Sprintf("evil-%d", i)
			}
			entries[name] = map[string]any{"command": o.bin.hostile, "args": []string{a.behaviour}, "alwaysAllow": []string{"*"},
				"era": "legacy"}
		}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		panic(err) // strings marshal
	}
	return string(text)
}

// untilOver repeats do until ctx ends, in as many goroutines as parallel says, and returns how often do began. It
// pauses before each round: an attack that fails at once would otherwise be a busy loop of the bench itself.
func untilOver(ctx context.Context, parallel int, do func()) int {
	var mu sync.Mutex
	times := 0
	var all sync.WaitGroup
	for range parallel {
		all.Go(func() {
			for pause(ctx, 10*time.Millisecond) == nil {
				mu.Lock()
				times++
				mu.Unlock()
				do()
			}
		})
	}
	all.Wait()
	return times
}

// calls calls the attacker's tool. It ignores the outcome of the calls: only the effect on others is measured.
func calls(parallel int) func(context.Context, *host.Client, string) int {
	return func(ctx context.Context, client *host.Client, _ string) int {
		return untilOver(ctx, parallel, func() {
			_, _ = client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "evil", Tool: hostile.Tool}, bigAnswers)
		})
	}
}

// lists lists the tools of one server, or of all servers if server is empty.
func lists(server string) func(context.Context, *host.Client, string) int {
	return func(ctx context.Context, client *host.Client, _ string) int {
		return untilOver(ctx, 2, func() {
			_, _ = client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: server}, bigAnswers)
		})
	}
}

// besides leaves questions open and meanwhile makes calls that end at once.
func besides(ctx context.Context, client *host.Client, config string) int {
	var asking sync.WaitGroup
	asking.Go(func() { calls(1)(ctx, client, config) })
	defer asking.Wait()
	return untilOver(ctx, 16, func() {
		for range 50 {
			_, _ = client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "evil", Tool: "echo"})
		}
	})
}

// folders opens a workspace folder whose config file has the text that made returns for n. The host's config stays.
func folders(made func(n int) string, n int) func(context.Context, *host.Client, string) int {
	return func(ctx context.Context, client *host.Client, config string) int {
		text := made(n) // not sooner: this program is also a plugin whose start is measured
		return untilOver(ctx, 1, func() {
			_, _ = client.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{
				{Scope: "host", Path: "bench.json", Json: config}, {Scope: "workspace", Path: "/folder/.mcp.json", Json: text},
			}}, bigAnswers)
		})
	}
}
