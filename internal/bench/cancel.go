package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// newLocalHub returns a hub in this process, whose only server, s, is reached by open.
func newLocalHub(ctx context.Context, open mcp.Opener, era string) (*hub.Hub, error) {
	// The logger formats each line at the default level, as a hub does, and discards it.
	h := hub.New(hub.Options{Version: "bench", Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Open: func(config.Server, func(string)) mcp.Opener { return open }})
	_, problems, _, err := h.LoadConfig(ctx, []hub.ConfigSource{{Scope: "host", Path: "bench.json",
		JSON: `{"mcpServers":{"s":{"command":"s","era":"` + era + `","alwaysAllow":["*"]}}}`}})
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("the config has problems: %v", problems)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	return h, nil
}

// measureCancel measures the time from the entry of CancelRequest until write(2) has put the notification into the
// server's pipe.
func measureCancel(ctx context.Context, _ options, f figures) {
	server := newPipeServer()
	h := got(newLocalHub(ctx, server.open, mcp.EraLegacy))
	c := cancels{open: inFlight, samples: 5000, noticed: server.written, hanging: func() int { return onWire(h) }}
	took, err := c.measure(ctx, h)
	err = errors.Join(err, h.Close(ctx))
	server.wait()
	must(err)
	f.put("CancelRequest -> notification in the server's pipe, median", median(took),
		"%d cancels, one after the other, %d to %d requests in flight", len(took), c.open+c.samples, c.open)
	f.put("CancelRequest -> notification in the server's pipe, p99", percentile(took, 99), "p99.9 %.0f us, worst %.0f us",
		percentile(took, 99.9), percentile(took, 100))
}

// onWire returns the number of requests that were written to the server.
func onWire(h *hub.Hub) (running int) {
	for _, r := range h.Requests("") {
		if r.State == event.StateRunning && r.WireID != "" {
			running++
		}
	}
	return running
}

// webCancels are the ways of a cancel over HTTP. In the legacy era the server must notice the notification, and in the
// modern one the end of the call's exchange. It sends the headers of an answer early, or with the answer.
var webCancels = []struct {
	what, era string
	early     bool
}{
	{"HTTP, legacy, headers at once: CancelRequest -> notification read", mcp.EraLegacy, true},
	{"HTTP, legacy, headers with the answer: CancelRequest -> notification read", mcp.EraLegacy, false},
	{"HTTP, modern, headers at once: CancelRequest -> reset seen", mcp.EraModern, true},
	{"HTTP, modern, headers with the answer: CancelRequest -> reset seen", mcp.EraModern, false},
}

// measureWebCancel measures the time from the entry of CancelRequest until a server over HTTP notices the cancel. Hub
// and server are in this process, so that they share a clock.
func measureWebCancel(ctx context.Context, _ options, f figures) {
	for _, way := range webCancels {
		server := newWebServer()
		server.early = way.early
		url, stop, err := listenHTTP(server)
		must(err)
		defer stop()
		h := got(newLocalHub(ctx, overHTTP(url, ""), way.era))
		// A cancel of a call without headers that is younger than a second waits: it could overtake its call.
		c := cancels{open: 1000, samples: 1000, settle: 1200 * time.Millisecond, noticed: server.reset,
			hanging: func() int { return int(server.hanging.Load()) }}
		if way.era == mcp.EraLegacy {
			c.noticed = server.cancelled
			if way.early {
				c.closed = server.reset
			}
		}
		took, err := c.measure(ctx, h)
		of(way.what, func() { must(errors.Join(err, h.Close(ctx))) })
		f.put(way.what, median(took)/1000, "%d cancels, one after the other, %d to %d calls in flight; p99 %.2f ms",
			len(took), c.open+c.samples, c.open, percentile(took, 99)/1000)
	}
}

// cancels lets calls hang in a hub, and cancels some of them, one after the other.
type cancels struct {
	open, samples int              // how many calls stay open, and how many more are cancelled
	hanging       func() int       // how many calls the server has
	settle        time.Duration    // the age that the calls must have
	noticed       <-chan time.Time // when the server noticed a cancel
	closed        <-chan time.Time // when the exchange of a cancelled call ended; nil if that comes later, or never
}

// measure returns the microseconds from each CancelRequest until the server noticed it.
func (c cancels) measure(ctx context.Context, h *hub.Hub) (took []float64, err error) {
	// without a window, the hub has no receiver for its events
	w, _, err := h.Attach(hub.Hello{Title: "bench"}, noSink{})
	if err != nil {
		return nil, err
	}
	defer w.Detach(true)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer h.CancelRequests(hub.CancelScope{All: true}, "over", event.OriginHost)
	id := func(i int) string { return fmt.Sprintf("bench-%d", i) }
	n := c.open + c.samples
	for i := range n {
		calls.Go(func() {
			// ends by the cancel
			_, _ = h.CallTool(ctx, hub.CallRequest{ID: id(i), Server: "s", Tool: "hang", Arguments: string(echoArguments)})
		})
	}
	for c.hanging() != n {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, fmt.Errorf("the server has %d open calls, not %d: %w", c.hanging(), n, err)
		}
	}
	if err := pause(ctx, c.settle); err != nil {
		return nil, err
	}
	for i := range c.samples {
		start := time.Now()
		outcome, err := h.CancelRequest(id(i*n/c.samples), "", "the user pressed stop", event.OriginUser) // old and new ones
		if err == nil && outcome != event.OutcomeCancelling {
			err = fmt.Errorf("cancelling call %d: outcome %d", i, outcome)
		}
		if err != nil {
			return nil, err
		}
		at, err := receive(ctx, c.noticed)
		if err == nil && c.closed != nil {
			_, err = receive(ctx, c.closed) // the next cancel begins at rest
		}
		if err != nil {
			return nil, err
		}
		took = append(took, micros(at.Sub(start)))
	}
	return took, nil
}

// receive returns the next time that was recorded.
func receive(ctx context.Context, from <-chan time.Time) (time.Time, error) {
	select {
	case t := <-from:
		return t, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

// noSink is a window that ignores its events.
type noSink struct{}

func (noSink) Deliver(event.Event) {}
func (noSink) Closed(*event.Error) {}

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
