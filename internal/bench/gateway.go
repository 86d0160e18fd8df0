package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// gatewayConfig writes a config file with two echo servers, and returns its path. The file goes with the programs.
func gatewayConfig(o options) (string, error) {
	file := filepath.Join(o.bin.dir, "mcp.json")
	return file, os.WriteFile(file, []byte(serversJSON(o, "e", "honest")), 0o600)
}

// measureGateway compares clients connected to a server directly with the same clients behind mcphub mcp, and behind a
// relay (docs/adr/0048).
func measureGateway(ctx context.Context, o options, f figures) {
	file := got(gatewayConfig(o))
	const direct, behind, relayed = "direct", "gateway", "relay"
	bare := mcp.CallRequest{Name: "echo", Arguments: echoArguments}
	named := mcp.CallRequest{Name: "e__echo", Arguments: echoArguments}
	one, many := compare(ctx, o,
		openSession(direct, overStdio(o.bin.echo), mcp.EraLegacy, bare),
		openSession(behind, overStdio(o.bin.mcphub, "mcp", file), mcp.EraLegacy, named),
		openSession(relayed, overStdio(o.bin.self, mcpRelay), mcp.EraLegacy, named))
	f.put("stdio, a call through the gateway, more than directly", one.more(behind, direct), "%v", one)
	f.put("stdio, through the gateway / through a relay, 64 at once", many.against(behind, relayed), "%v", many)

	one, many = compare(ctx, o, openTypeScript(direct, "echo", o.bin.echo),
		openTypeScript(behind, "e__echo", o.bin.mcphub, "mcp", file))
	// What a single call takes longer has no floor: the client's own share of it is as long as the gateway's.
	f.put("stdio, TypeScript SDK: through the gateway / directly, 64 at once", many.against(behind, direct),
		"%v\none after the other, %.2f ms more than directly, %v", many, one.more(behind, direct), one)

	through := got(startHTTP(o.bin.mcphub, "mcp", file, "--http", "127.0.0.1:0"))
	defer through.stop()
	over := got(startHTTP(o.bin.self, mcpRelayWeb))
	defer over.stop()
	one, _ = compare(ctx, o,
		openSession(behind, overHTTP(through.url, through.authorization), mcp.EraLegacy, named),
		openSession(relayed, overHTTP(over.url, over.authorization), mcp.EraLegacy, named))
	f.put("HTTP, time of a call through the gateway / through a relay", 1/one.against(behind, relayed), "%v", one)
	measureGatewayCancel(ctx, f)
}

// measureGatewayCancel measures the way of a cancel through a gateway in this process, from pipe to pipe.
func measureGatewayCancel(ctx context.Context, f figures) {
	server := newPipeServer()
	h := got(newLocalHub(ctx, server.open, mcp.EraLegacy))
	defer func() {
		must(h.Close(ctx))
		server.wait()
	}()
	_, _, err := h.Tools(ctx, "s")
	must(err)
	g := got(gateway.New(h, gateway.Options{}))
	defer g.Close(nil)
	session := got(connect(ctx, func(context.Context) (*mcp.Link, error) { return pipeTo(ctx, g) }, mcp.EraLegacy))
	defer func() { _ = session.Close(errBenchOver) }()
	var took []float64
	for range 1000 {
		calling, cancel := context.WithCancelCause(ctx)
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = session.CallTool(calling, &mcp.CallRequest{Name: "s__hang", Arguments: echoArguments})
		}()
		for onWire(h) != 1 && pause(ctx, 5*time.Millisecond) == nil {
		}
		start := time.Now()
		cancel(errBenchOver)
		at, wait := receive(ctx, server.written)
		<-over
		must(errors.Join(err, wait))
		took = append(took, millis(at.Sub(start)))
	}
	f.put("a client's cancel -> notification in the server's pipe, median", median(took), "p99 %.2f ms",
		percentile(took, 99))
}

// pipeTo connects a client to a gateway over pipes of the operating system.
func pipeTo(ctx context.Context, g *gateway.Gateway) (*mcp.Link, error) {
	toGateway, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, fromGateway, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, toGateway.Close(), in.Close())
	}
	line := func(r io.ReadCloser, w io.WriteCloser) *jsonrpc.LineConn {
		return jsonrpc.NewLineConn(r, w, jsonrpc.LineConnOptions{Close: func() error {
			return errors.Join(w.Close(), r.Close())
		}})
	}
	go func() { _ = g.Serve(ctx, line(toGateway, fromGateway)) }() // ends with the session
	return &mcp.Link{Conn: line(out, in)}, nil
}

// serveMCPRelay is the least that a gateway can cost: the two halves of the engine in one process, between a client and
// the echo server that the environment names. Any further cost of mcphub mcp is the hub's.
func serveMCPRelay(web bool) int {
	session := connectEcho()
	defer func() { _ = session.Close(errBenchOver) }()
	server := mcpserver.New(mcpserver.Options{Info: json.RawMessage(`{"name":"relay","version":"1"}`),
		Capabilities: json.RawMessage(`{"tools":{}}`), Handler: relayHandler{session}})
	defer server.Close(nil)
	if web {
		const token = "relay"
		return serveHTTP(server.HTTP(mcpserver.Guard{Token: token}), token)
	}
	if err := server.Serve(context.Background(), mcpserver.Standard(os.Stdin, os.Stdout)); err != nil {
		return 1
	}
	return 0
}

type relayHandler struct{ session *mcp.Session }

func (r relayHandler) Request(ctx context.Context, c *mcpserver.Call) (json.RawMessage, error) {
	if c.Method != protocol.MethodCallTool {
		return nil, mcpserver.ErrUnknownMethod
	}
	result, err := r.session.CallTool(ctx, &mcp.CallRequest{
		Name:      strings.TrimPrefix(jsontext.String(jsontext.Get(c.Params, "name")), "e__"),
		Arguments: jsontext.Get(c.Params, "arguments"), OnProgress: func(mcp.Progress) {},
	})
	if err != nil {
		return nil, err
	}
	return result.Raw, nil
}

func (relayHandler) Notified(*mcpserver.Session, string, json.RawMessage) {}
func (relayHandler) Ended(*mcpserver.Session, error)                      {}
