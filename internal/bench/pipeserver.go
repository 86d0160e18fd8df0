package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// pipeServer is a server within this process, behind two real pipes. It answers the requests that open a session, lists
// its tools, never answers a call, and sends the messages that the caller gives it. It records, to the nanosecond, when
// the hub wrote a cancel and when it read one.
type pipeServer struct {
	written chan time.Time // of each notifications/cancelled of the hub, after write(2)
	read    chan time.Time // of each notifications/cancelled of the server, when the hub's reader got it
	tools   string         // entries of its list besides hang

	serving sync.WaitGroup

	mu  sync.Mutex // guards out
	out *os.File   // nil before the hub connects
}

func newPipeServer() *pipeServer {
	return &pipeServer{written: make(chan time.Time, 1<<16), read: make(chan time.Time, 1<<16)}
}

// open has the signature of hub.Options.Open. Only one connection is opened.
func (s *pipeServer) open(config.Server, func(string)) mcp.Opener {
	return func(context.Context) (*mcp.Link, error) {
		in, hubOut, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		hubIn, out, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(err, in.Close(), hubOut.Close())
		}
		s.mu.Lock()
		s.out = out
		s.mu.Unlock()
		s.serving.Go(func() { s.serve(in) })
		line := jsonrpc.NewLineConn(hubIn, hubOut, jsonrpc.LineConnOptions{})
		return &mcp.Link{Conn: &stampedConn{LineConn: line, server: s}}, nil
	}
}

// wait returns when the server has ended. It ends when its input does.
func (s *pipeServer) wait() { s.serving.Wait() }

func (s *pipeServer) serve(in *os.File) {
	defer func() {
		_ = in.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = s.out.Close()
	}()
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch m.Method {
		case "initialize":
			s.send(
				`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"pipe","version":"1"}}}`, m.ID)
		case "tools/list":
			tools := `{"name":"hang","inputSchema":{"type":"object"}}`
			if s.tools != "" {
				tools += "," + s.tools
			}
			s.send(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, tools)
		}
	}
}

// send writes one message to the hub.
func (s *pipeServer) send(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...) // an error means that the hub has closed the pipe
}

// stampedConn records the times. It gets the optional methods of a LineConn by embedding.
type stampedConn struct {
	*jsonrpc.LineConn
	server *pipeServer
	parted bool // a cancel was written in part; the next write has the rest
}

var cancelMethod = []byte(`"notifications/cancelled"`)

func isCancel(msg []byte) bool { return bytes.Contains(msg[:min(len(msg), 128)], cancelMethod) }

func (c *stampedConn) ReadMessage() ([]byte, error) {
	msg, err := c.LineConn.ReadMessage()
	if isCancel(msg) {
		c.server.read <- time.Now()
	}
	return msg, err
}

func (c *stampedConn) TryWrite(msg []byte) (int, bool, error) {
	taken, done, err := c.LineConn.TryWrite(msg)
	if taken > 0 && isCancel(msg) {
		c.parted = !done
		if done {
			c.server.written <- time.Now()
		}
	}
	return taken, done, err
}

func (c *stampedConn) WriteMessages(batch [][]byte) error {
	cancels := 0
	if c.parted {
		c.parted = false
		cancels++
	}
	for _, msg := range batch {
		if isCancel(msg) {
			cancels++
		}
	}
	err := c.LineConn.WriteMessages(batch)
	for range cancels {
		c.server.written <- time.Now()
	}
	return err
}

// newLocalHub returns a hub in this process whose only server is the pipe server.
func newLocalHub(ctx context.Context, s *pipeServer) (*hub.Hub, error) {
	h := hub.New(hub.Options{Version: "bench", Logger: discardLog(), Open: s.open})
	_, problems, _,
		err := h.LoadConfig(ctx, []hub.ConfigSource{{Scope: "host", Path: "bench.json",
		JSON: `{"mcpServers":{"pipe":{"command":"pipe","era":"legacy","alwaysAllow":["*"]}}}`}})
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("the config has problems: %v", problems)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	return h, nil
}

// receive returns the next time that was recorded.
func receive(ctx context.Context, from chan time.Time) (time.Time, error) {
	select {
	case t := <-from:
		return t, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}
