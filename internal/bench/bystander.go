package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/hostile"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	attackTime = 3 * time.Second  // how long an attack goes on
	callTime   = 20 * time.Second // a call that does not end counts as that long
)

// measureBystander runs the attacks one after the other, and measures the calls of a bystander, who has nothing to do
// with the attacker. All of them share the machine.
func measureBystander(ctx context.Context, o options, f figures) {
	var servers, clients worst
	for _, a := range attacks {
		of(a.about, func() { a.suffer(ctx, o, &servers) })
	}
	sufferClients(ctx, o, &clients)
	f.put("worst call of a bystander while a server or a folder does its worst", servers.ms, "%s", servers.each)
	f.put("worst call of a bystander while 32 clients of a gateway do their worst", clients.ms, "%s", clients.each)
}

// worst is the longest call of a bystander, with a line for each attack.
type worst struct {
	ms   float64
	each string
}

// during repeats a bystander's call while an attack goes on. An attack counts how often it began.
func (w *worst) during(ctx context.Context, about string, call func(context.Context) error,
	attack func(ctx context.Context, began *atomic.Int64)) {
	attacking, stop := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop(errBenchOver)
	var began atomic.Int64
	running.Go(func() { attack(attacking, &began) })
	for began.Load() == 0 { // some must be prepared first
		must(pause(ctx, 10*time.Millisecond))
	}
	var took []float64
	for end := time.Now().Add(attackTime); time.Now().Before(end); {
		start := time.Now()
		bounded, cancel := context.WithTimeoutCause(ctx, callTime, errTooSlow)
		err := call(bounded)
		slow := errors.Is(context.Cause(bounded), errTooSlow) && ctx.Err() == nil
		cancel()
		if err != nil && !slow {
			must(fmt.Errorf("the call of a bystander: %w", err))
		}
		took = append(took, millis(time.Since(start)))
	}
	longest := percentile(took, 100)
	w.ms = max(w.ms, longest)
	w.each += fmt.Sprintf("%s: worst %.1f ms, median %.1f ms of %d; the attack ran %d times\n", about, longest,
		median(took), len(took), began.Load())
}

// repeat does something again and again in n goroutines until ctx ends. It pauses before each round: an attack that
// fails at once would otherwise be a busy loop of the bench itself.
func repeat(ctx context.Context, n int, began *atomic.Int64, do func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for pause(ctx, 10*time.Millisecond) == nil {
				began.Add(1)
				do()
			}
		})
	}
	all.Wait()
}

// sufferClients measures the calls of an honest client of a gateway to one server, while hostile clients attack the
// same gateway and use another server.
func sufferClients(ctx context.Context, o options, w *worst) {
	file := got(gatewayConfig(o))
	gateway := got(startHTTP(o.bin.mcphub, "mcp", file, "--http", "127.0.0.1:0"))
	defer gateway.stop()
	honest := got(connect(ctx, overHTTP(gateway.url, gateway.authorization), mcp.EraLegacy))
	defer func() { _ = honest.Close(errBenchOver) }()
	call := func(ctx context.Context) error {
		_, err := honest.CallTool(ctx, &mcp.CallRequest{Name: "honest__echo", Arguments: echoArguments})
		return err
	}
	for _, a := range clientAttacks {
		of(a.about, func() {
			clients, err := openHostileClients(ctx, gateway)
			defer func() {
				for _, c := range clients {
					c.http.CloseIdleConnections()
				}
			}()
			must(err)
			w.during(ctx, a.about, call, func(ctx context.Context, began *atomic.Int64) {
				var all sync.WaitGroup
				for _, c := range clients {
					all.Go(func() {
						for i := 0; ctx.Err() == nil; i++ {
							began.Add(1)
							a.do(ctx, c, i)
						}
					})
				}
				all.Wait()
			})
		})
	}
}

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
func (a attack) suffer(ctx context.Context, o options, w *worst) {
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
	client := got(openHub(ctx, config, o.bin.mcphub))
	defer closeHub(client)
	attacked := got(attach(ctx, client, a.accepts))
	defer attacked.close()
	call := func(ctx context.Context) error { return callTool(ctx, client.Hub, "good", "echo", `{}`) }
	must(call(ctx)) // the start of the server is not what is measured
	w.during(ctx, a.about, call, func(ctx context.Context, began *atomic.Int64) {
		a.drive(ctx, client, config, began)
	})
}

// calls calls the attacker's tool. It ignores the outcome of the calls: only the effect on others is measured.
func calls(parallel int) driver {
	return func(ctx context.Context, client *host.Client, _ string, began *atomic.Int64) {
		repeat(ctx, parallel, began, func() {
			_, _ = client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{Server: "evil", Tool: hostile.Tool})
		})
	}
}

// lists lists the tools of one server, or of all servers if server is empty.
func lists(server string) driver {
	return func(ctx context.Context, client *host.Client, _ string, began *atomic.Int64) {
		repeat(ctx, 2, began, func() {
			_, _ = client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: server})
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
			}})
		})
	}
}

// clientAttack is one kind of misbehaviour by the clients of a gateway. Each of several clients repeats it; i counts
// the repetitions.
type clientAttack struct {
	about string
	do    func(ctx context.Context, c *hostileClient, i int)
}

// garbage has texts that are not messages, or are far too long for one.
var garbage = []string{"{", strings.Repeat("[", 200_000), strings.Repeat("\xff\x00", 1<<19),
	`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 1<<20) + `"}`}

const greeting = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"hostile","version":"1"}}}`

var clientAttacks = []clientAttack{
	{"clients without a token", func(ctx context.Context, c *hostileClient, _ int) {
		c.post(ctx, "", "Bearer guessed", greeting)
	}},
	{"clients that send garbage", func(ctx context.Context, c *hostileClient, i int) {
		c.post(ctx, c.session, c.authorization, garbage[i%len(garbage)])
	}},
	{"clients that call as fast as they can", func(ctx context.Context, c *hostileClient, i int) {
		c.post(ctx, c.session, c.authorization, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"e__echo","arguments":%s}}`, i, echoArguments))
	}},
	{"clients that ask for 1 MiB and do not read it", func(ctx context.Context, c *hostileClient, i int) {
		c.leave(ctx, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"e__large","arguments":{"count":1048576}}}`, i))
	}},
	{"clients that open sessions", func(ctx context.Context, c *hostileClient, _ int) {
		c.post(ctx, "", c.authorization, greeting)
	}},
}

const hostileClients = 32

// hostileClient is used by one goroutine.
type hostileClient struct {
	endpoint
	session string
	http    *http.Client
}

// openHostileClients opens the clients, each with a session: without one they could do nothing.
func openHostileClients(ctx context.Context, at endpoint) (clients []*hostileClient, err error) {
	for range hostileClients {
		c := &hostileClient{endpoint: at, http: &http.Client{Transport: &http.Transport{}}}
		clients = append(clients, c)
		response := c.begin(ctx, "", c.authorization, greeting)
		if response == nil {
			return clients, errors.New("a hostile client got no answer")
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if c.session = response.Header.Get("Mcp-Session-Id"); c.session == "" {
			return clients, fmt.Errorf("a hostile client got no session: status %d", response.StatusCode)
		}
	}
	return clients, nil
}

// post sends a message, then reads and ignores the response.
func (c *hostileClient) post(ctx context.Context, session, authorization, body string) {
	if response := c.begin(ctx, session, authorization, body); response != nil {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

// leave sends a message, waits without reading the response, and closes the connection.
func (c *hostileClient) leave(ctx context.Context, body string) {
	if response := c.begin(ctx, c.session, c.authorization, body); response != nil {
		_ = pause(ctx, 50*time.Millisecond)
		_ = response.Body.Close()
	}
}

func (c *hostileClient) begin(ctx context.Context, session, authorization, body string) *http.Response {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", authorization)
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil
	}
	return response
}
