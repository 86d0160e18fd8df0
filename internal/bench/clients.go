package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	mcpgoclient "github.com/mark3labs/mcp-go/client"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// The names of the clients that are compared with the same server.
const (
	byteLoopName = "byte loop"
	engineName   = "engine"
	goSDKName    = "go-sdk"
	mcpGoName    = "mcp-go"
)

const revision = "2025-11-25" // the same for every client, so that none of them probes for a revision

var errBenchOver = errors.New("the benchmark is over")

var echoArguments = json.RawMessage(`{"text":"the quick brown fox jumps over the lazy dog"}`)

// openEngine opens a bare peer over the hub's own stdio transport.
func openEngine(_ context.Context, o options) (subject, error) {
	proc, err := process.Start(command(o.bin.echo))
	if err != nil {
		return subject{}, err
	}
	peer := jsonrpc.NewPeer(jsonrpc.NewLineConn(proc.Stdout(), proc.Stdin(), jsonrpc.LineConnOptions{Close: func() error {
		proc.Stop("the benchmark is over")
		return nil
	}}), jsonrpc.Options{})
	params := json.RawMessage(callParams)
	return subject{
		name: engineName,
		call: func(ctx context.Context) error {
			_, err := peer.Call(ctx, "tools/call", params)
			return err
		},
		close: func() { _ = peer.Close(errBenchOver) },
	}, nil
}

// command is a program with the environment of this one.
func command(path string, args ...string) process.Command {
	return process.Command{Path: path, Args: args, Env: os.Environ()}
}

func overStdio(path string, args ...string) mcp.Opener { return mcp.Stdio(command(path, args...), 0) }

// overHTTP leads to an endpoint; an authorization may be empty.
func overHTTP(url, authorization string) mcp.Opener {
	header := http.Header{}
	if authorization != "" {
		header.Set("Authorization", authorization)
	}
	return mcp.HTTP(transport.HTTPOptions{URL: url, Header: header})
}

// connect opens the session that the hub itself uses.
func connect(ctx context.Context, open mcp.Opener, era string) (*mcp.Session, error) {
	return mcp.Connect(ctx, mcp.Options{Server: "echo", Open: open, Era: era, Handler: mcp.NoHandler{},
		Client: mcp.Implementation{Name: "bench", Version: "1"}})
}

// openSession opens such a session as a subject that makes this call.
func openSession(name string, open mcp.Opener, era string, call mcp.CallRequest) opener {
	return func(ctx context.Context, _ options) (subject, error) {
		s, err := connect(ctx, open, era)
		if err != nil {
			return subject{}, fmt.Errorf("%s: %w", name, err)
		}
		return subject{
			name: name,
			call: func(ctx context.Context) error {
				c := call
				_, err := s.CallTool(ctx, &c)
				return err
			},
			close: func() { _ = s.Close(errBenchOver) },
		}, nil
	}
}

// openGoSDK opens the official SDK's client, in the way its documentation shows.
func openGoSDK(ctx context.Context, o options) (subject, error) {
	client := gosdk.NewClient(&gosdk.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &gosdk.CommandTransport{Command: exec.Command(o.bin.echo),
		TerminateDuration: time.Second}, &gosdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return subject{}, err
	}
	return subject{
		name: goSDKName,
		call: func(ctx context.Context) error {
			_, err := session.CallTool(ctx, &gosdk.CallToolParams{Name: "echo", Arguments: echoArguments})
			return err
		},
		close: func() { _ = session.Close() },
	}, nil
}

// openMcpGo opens mcp-go's client, in the way its documentation shows.
func openMcpGo(ctx context.Context, o options) (subject, error) {
	client, err := mcpgoclient.NewStdioMCPClient(o.bin.echo, os.Environ())
	if err != nil {
		return subject{}, err
	}
	var hello mcpgo.InitializeRequest
	hello.Params.ProtocolVersion = revision
	hello.Params.ClientInfo = mcpgo.Implementation{Name: "bench", Version: "1"}
	if _, err := client.Initialize(ctx, hello); err != nil {
		return subject{}, errors.Join(err, client.Close())
	}
	return subject{
		name: mcpGoName,
		call: func(ctx context.Context) error {
			var request mcpgo.CallToolRequest
			request.Params.Name = "echo"
			request.Params.Arguments = echoArguments
			_, err := client.CallTool(ctx, request)
			return err
		},
		close: func() { _ = client.Close() },
	}, nil
}

// openTypeScript starts the client of the TypeScript SDK 2.x with the command of a server. The calls are made in its
// Node process.
func openTypeScript(name, tool string, server ...string) opener {
	return func(_ context.Context, o options) (subject, error) {
		script := filepath.Join(o.bin.root, "internal", "peers", "typescript2", "load.mjs")
		node, err := startChild(4096, "node",
			append([]string{"--no-warnings", script, tool, string(echoArguments), "stdio"}, server...)...)
		if err != nil {
			return subject{}, err
		}
		pump := func(parallel int, stop *atomic.Bool) (int, error) {
			if _, err := fmt.Fprintf(node.in, "run %d\n", parallel); err != nil {
				return 0, err
			}
			for !stop.Load() {
				time.Sleep(time.Millisecond)
			}
			if _, err := fmt.Fprintln(node.in, "stop"); err != nil {
				return 0, err
			}
			line, err := node.out.ReadString('\n')
			if err != nil {
				return 0, fmt.Errorf("the TypeScript client ended (is it installed? make peers): %w", err)
			}
			return strconv.Atoi(strings.TrimSpace(line))
		}
		return subject{name: name, pump: pump, close: node.close}, nil
	}
}

// The exact bytes of a request, except for the id. The requests of the library clients differ from them at most in the
// order of the members.
const (
	callHead   = `{"jsonrpc":"2.0","id":`
	callMiddle = `,"method":"tools/call","params":`
	callParams = `{"name":"echo","arguments":{"text":"the quick brown fox jumps over the lazy dog"},"_meta":{"progressToken":17}}`
)

// appendCall appends the text of a call with this id.
func appendCall(to []byte, id int64) []byte {
	to = strconv.AppendInt(append(to, callHead...), id, 10)
	return append(append(append(to, callMiddle...), callParams...), '}')
}

// byteLoop is the floor. It costs only what a client cannot avoid: to write requests into a pipe, to read lines from
// another pipe, to find the id by a search for bytes, and to keep a table of the pending requests. One goroutine does
// all this. Each request is a write of its own, because each call is a separate event for a client.
type byteLoop struct {
	*child
	pending map[int64]struct{}
	last    int64
	text    []byte
}

func openByteLoop(_ context.Context, o options) (subject, error) {
	server, err := startChild(64<<10, o.bin.echo)
	if err != nil {
		return subject{}, err
	}
	l := &byteLoop{child: server, pending: map[int64]struct{}{}}
	return subject{name: byteLoopName, pump: l.pump, close: server.close}, nil
}

func (l *byteLoop) pump(parallel int, stop *atomic.Bool) (calls int, err error) {
	for {
		for len(l.pending) < parallel && !stop.Load() {
			l.last++
			l.pending[l.last] = struct{}{}
			l.text = append(appendCall(l.text[:0], l.last), '\n')
			if _, err := l.in.Write(l.text); err != nil {
				return calls, err
			}
		}
		if len(l.pending) == 0 {
			return calls, nil
		}
		// Whatever came with one read is settled before more is written.
		for more := true; more; more = l.out.Buffered() > 0 {
			line, err := l.out.ReadSlice('\n')
			if err != nil {
				return calls, err
			}
			id := idOf(line)
			if _, ok := l.pending[id]; !ok {
				return calls, fmt.Errorf("an answer to %d, which is not pending", id)
			}
			delete(l.pending, id)
			calls++
		}
	}
}

var idKey = []byte(`"id":`)

// idOf returns the id of an answer, or 0.
func idOf(line []byte) (id int64) {
	_, digits, _ := bytes.Cut(line, idKey)
	for _, c := range digits {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + int64(c-'0')
	}
	return id
}
