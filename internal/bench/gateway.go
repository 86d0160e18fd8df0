package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// measureGateway compares clients connected to a server directly with the same clients behind mcphub mcp.
func measureGateway(ctx context.Context, o options) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "mcphub-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "mcp.json")
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"e": map[string]any{"command": o.bin.echo,
		"era": "legacy", "alwaysAllow": []string{"*"}}}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	through := transport.Command{Path: o.bin.mcphub, Args: []string{"mcp", file}, Env: os.Environ()}
	ofSelf := func(role string) transport.Command {
		return transport.Command{Path: o.bin.self, Args: []string{role}, Env: append(os.Environ(), envEcho+"="+o.bin.echo)}
	}
	const direct, behind = "direct", "gateway"
	var subjects []subject
	defer func() { closeAll(subjects) }()
	sessions := map[string]*mcp.Session{}
	for _, s := range []struct {
		name, tool string
		command    transport.Command
	}{{direct, "echo", echoCommand(o)}, {behind, "e__echo", through}, {relayed, "e__echo", ofSelf(mcpRelay)}} {
		session, err := connectSession(ctx, s.command)
		if err != nil {
			return nil, err
		}
		sessions[s.name] = session
		subjects = append(subjects, subject{
			name: s.name,
			call: func(ctx context.Context) error {
				_, err := session.CallTool(ctx, &mcp.CallRequest{Name: s.tool, Arguments: echoArguments})
				return err
			},
			close: func() { _ = session.Close(errBenchOver) },
		})
	}
	if rows, err = compareGateway(ctx, o, subjects, "the engine's client"); err != nil {
		return nil, err
	}
	typescript, err := measureGatewayClients(ctx, o, through)
	if err != nil {
		return nil, err
	}
	overHTTP, err := measureGatewayHTTP(ctx, o, file)
	if err != nil {
		return nil, err
	}
	crowded, err := measureGatewayBystander(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	rows = append(append(append(rows, typescript...), overHTTP...), crowded...)

	const size = 32 << 20
	start := time.Now()
	large, err := sessions[behind].CallTool(ctx, &mcp.CallRequest{Name: "e__large",
		Arguments: json.RawMessage(fmt.Sprintf(`{"count":%d}`, size))})
	if err != nil || len(large.Raw) < size {
		return nil, fmt.Errorf("a result of 32 MiB: %w", errors.Join(err, errors.New("it did not cross whole")))
	}
	rows = append(rows, number("a result of 32 MiB crosses whole", millis(time.Since(start)), "ms", ""))
	inside, err := gatewayInside(ctx, o)
	return append(rows, inside...), err
}

// gatewayInside measures a gateway in this process: the way of a cancel from pipe to pipe, long lists, a search, and
// the cost of an open gateway.
func gatewayInside(ctx context.Context, o options) (rows []row, err error) {
	server := newPipeServer()
	server.tools = manyTools(1000)
	h, err := newLocalHub(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, h.Close(ctx))
		server.wait()
	}()
	if _, _, err := h.Tools(ctx, "pipe"); err != nil {
		return nil, err
	}
	const many = 16
	var open []*gateway.Endpoint
	before := heapInUse()
	for range many {
		idle, err := gateway.New(h, gateway.Options{})
		if err != nil {
			return nil, err
		}
		endpoint, err := gateway.Listen(idle, "127.0.0.1:0", "")
		if err != nil {
			return nil, err
		}
		open = append(open, endpoint)
	}
	cost := (heapInUse() - before) / many
	for _, endpoint := range open {
		endpoint.Close(nil)
	}

	g, err := gateway.New(h, gateway.Options{})
	if err != nil {
		return nil, err
	}
	defer g.Close(nil)
	session, err := gatewaySession(ctx, g)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close(errBenchOver) }()
	var listing, searching, cancelling []time.Duration
	for range pick(o, 100, 20) {
		start := time.Now()
		tools, err := session.ListTools(ctx)
		listing = append(listing, time.Since(start))
		if err != nil || len(tools) < 1000 {
			return nil, fmt.Errorf("%d tools are listed: %w", len(tools), err)
		}
		start = time.Now()
		found, err := h.ModelTools().Search(ctx, "create an issue", 10, "")
		searching = append(searching, time.Since(start))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%d tools are found: %w", len(found), err)
		}
	}
	for range pick(o, 1000, 200) {
		took, err := gatewayCancel(ctx, h, session, server)
		if err != nil {
			return nil, err
		}
		cancelling = append(cancelling, took)
	}
	return append(rows,
		number("a client's cancel -> notification in the server's pipe, median", median(cancelling, millis), "ms",
			"p99 %.2f ms", percentile(cancelling, 99, millis)).atMost(1),
		number("tools/list of 1,000 tools", median(listing, millis), "ms", "").atMost(50),
		number("SearchTools among 1,000 tools", median(searching, millis), "ms", "").atMost(5),
		number("an open gateway, heap", float64(cost)/(1<<20), "MiB", "mean of %d, over HTTP, without clients",
			many).atMost(1)), nil
}

// gatewaySession connects a client to a gateway in this process, over pipes of the operating system.
func gatewaySession(ctx context.Context, g *gateway.Gateway) (*mcp.Session, error) {
	toGateway, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, fromGateway, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	line := func(r io.ReadCloser, w io.WriteCloser) *jsonrpc.LineConn {
		return jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{Close: func() error {
			return errors.Join(w.Close(), r.Close())
		}})
	}
	go func() { _ = g.Serve(ctx, line(toGateway, fromGateway)) }() // ends with the session
	return mcp.Connect(ctx, mcp.Options{
		Server: "gateway", Era: mcp.EraLegacy, Client: mcp.Implementation{Name: "bench", Version: "1"},
		Handler: mcp.NoHandler{},
		Open:    func(context.Context) (*mcp.Link, error) { return &mcp.Link{Conn: line(out, in)}, nil },
	})
}

// gatewayCancel returns the time from a client's cancel until the notification is in the server's pipe.
func gatewayCancel(ctx context.Context, h *hub.Hub, session *mcp.Session,
	server *pipeServer) (time.Duration, error) {
	calling, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = session.CallTool(calling, &mcp.CallRequest{Name: "pipe__hang", Arguments: echoArguments})
	}()
	if err := awaitRunning(ctx, h, 1); err != nil {
		return 0, err
	}
	start := time.Now()
	cancel(errBenchOver)
	at, err := receive(ctx, server.written)
	<-over
	return at.Sub(start), err
}

// manyTools returns the JSON of the entries in a list of n tools.
func manyTools(n int) string {
	verbs := strings.Fields("create list get update delete search merge read write run")
	things := strings.Fields("issue repository pull_request file branch table message channel page event")
	var entries []string
	for i := range n {
		verb, thing := verbs[i%10], things[i/10%10]
		entries = append(entries, fmt.Sprintf(`{"name":"%s_%s_%d","description":%q,"inputSchema":{"type":"object",`+
			`"properties":{"owner":{"type":"string"},"pageSize":{"type":"integer"}}}}`, verb, thing, i,
			strings.Repeat("Use this to "+verb+" a "+thing+" of the account of the user. ", 5)))
	}
	return strings.Join(entries, ",")
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // the second one frees objects that have finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
