package hub_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// BenchmarkCallTool measures one call after the other, over in-memory pipes, to a server that does next to nothing.
// What it takes beyond the benchmark of the same name in hub/mcp is the cost of the hub.
func BenchmarkCallTool(b *testing.B) {
	h := hub.New(hub.Options{Open: func(config.Server, func(string)) mcp.Opener {
		return func(context.Context) (*mcp.Link, error) {
			fromClient, in := io.Pipe()
			out, toClient := io.Pipe()
			go answerAtOnce(fromClient, toClient)
			return &mcp.Link{Conn: jsonrpc.NewLineConn(out, in, jsonrpc.LineConnOptions{})}, nil
		}
	}})
	defer func() { _ = h.Close(context.Background()) }()
	_, _, _, err := h.LoadConfig(context.Background(), []hub.ConfigSource{{Path: "test.json", Scope: "user",
		JSON: `{"servers":{"s":{"command":"s","alwaysAllow":["*"],"env":{"API_TOKEN":"0123456789abcdef"}}}}`}})
	if err != nil {
		b.Fatal(err)
	}
	call := hub.CallRequest{Server: "s", Tool: "echo", Arguments: `{"text":"hello"}`}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.CallTool(context.Background(), call); err != nil {
			b.Fatal(err)
		}
	}
}

// answerAtOnce answers every request, until one of the pipes is closed.
func answerAtOnce(from io.Reader, to io.WriteCloser) {
	defer to.Close()
	var out []byte
	for in := bufio.NewReader(from); ; {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		out = append(append(append(out[:0], `{"jsonrpc":"2.0","id":`...), m.ID...), `,"result":`...)
		switch {
		case bytes.Contains(line, []byte(`"initialize"`)):
			out = append(out, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},`+
				`"serverInfo":{"name":"x","version":"1"}}`...)
		case bytes.Contains(line, []byte(`"tools/list"`)):
			out = append(out, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`...)
		default:
			out = append(out, `{"content":[{"type":"text","text":"ok"}]}`...)
		}
		if _, err := to.Write(append(out, '}', '\n')); err != nil {
			return
		}
	}
}
