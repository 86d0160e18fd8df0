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

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// pipeServer is a server within this process, behind two real pipes. It answers the requests that open a session, lists
// its tool, and never answers a call. It records, to the nanosecond, when the hub wrote a cancel.
type pipeServer struct {
	written chan time.Time // of each notifications/cancelled, after write(2)
	serving sync.WaitGroup
}

func newPipeServer() *pipeServer { return &pipeServer{written: make(chan time.Time, 1<<16)} }

// open is the mcp.Opener of the server. Only one connection is opened.
func (s *pipeServer) open(context.Context) (*mcp.Link, error) {
	in, hubOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	hubIn, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), hubOut.Close())
	}
	s.serving.Go(func() { serve(in, out) })
	line := jsonrpc.NewLineConn(hubIn, hubOut, jsonrpc.LineConnOptions{})
	return &mcp.Link{Conn: &stampedConn{LineConn: line, server: s}}, nil
}

// wait returns when the server has ended. It ends when its input does.
func (s *pipeServer) wait() { s.serving.Wait() }

func serve(in, out *os.File) {
	defer func() { _, _ = in.Close(), out.Close() }()
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
		result := ""
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"pipe","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"hang","inputSchema":{"type":"object"}}]}`
		default:
			continue
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result); err != nil {
			return // the hub has closed the pipe
		}
	}
}

// stampedConn records the times.
type stampedConn struct {
	*jsonrpc.LineConn
	server *pipeServer
	parted bool // a cancel was written in part; the next write has the rest
}

var cancelMethod = []byte(`"notifications/cancelled"`)

func isCancel(msg []byte) bool { return bytes.Contains(msg[:min(len(msg), 128)], cancelMethod) }

func (c *stampedConn) TryWrite(line []byte) (int, error) {
	n, err := c.LineConn.TryWrite(line)
	if n > 0 && isCancel(line) {
		c.parted = n < len(line)
		if !c.parted {
			c.server.written <- time.Now()
		}
	}
	return n, err
}

func (c *stampedConn) Write(lines []byte) (int, error) {
	cancels := 0
	for line := range bytes.Lines(lines) {
		if c.parted || isCancel(line) {
			cancels++
		}
		c.parted = false
	}
	n, err := c.LineConn.Write(lines)
	for range cancels {
		c.server.written <- time.Now()
	}
	return n, err
}
