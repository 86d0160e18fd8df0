package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// envRelayHTTP makes the relay serve over HTTP.
const envRelayHTTP = "MCPHUB_BENCH_RELAY_HTTP"

// serveMCPRelay is the least that a gateway can cost: the two halves of the engine in one process, between a client on
// standard input and output and the echo server that the environment names. Any further cost of mcphub mcp is the
// hub's.
func serveMCPRelay() int {
	ctx := context.Background()
	session, err := connectSession(ctx, transport.Command{Path: os.Getenv(envEcho), Env: os.Environ()})
	if err != nil {
		panic(err) // the benchmark fails with it
	}
	defer func() { _ = session.Close(errBenchOver) }()
	server := mcpserver.New(mcpserver.Options{Info: json.RawMessage(`{"name":"relay","version":"1"}`),
		Capabilities: json.RawMessage(`{"tools":{}}`), Handler: relayHandler{session}})
	defer server.Close(nil)
	if os.Getenv(envRelayHTTP) != "" {
		return relayHTTP(server)
	}
	if err := server.Serve(ctx, mcpserver.Standard(os.Stdin, os.Stdout)); err != nil {
		return 1
	}
	return 0
}

// relayHTTP serves until it is interrupted. It prints the same lines as mcphub mcp.
func relayHTTP(server *mcpserver.Server) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	const token = "relay"
	srv := &http.Server{Handler: server.HTTP(mcpserver.Guard{Token: token})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(l) // ends by Close
	}()
	fmt.Printf("http://%s/mcp\nAuthorization: Bearer %s\n", l.Addr(), token)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
	_ = srv.Close()
	<-ended
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
