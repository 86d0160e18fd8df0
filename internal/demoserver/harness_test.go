//lint:file-ignore SA1019 sampling, roots and logging are deprecated since 2026-07-28; the clients of older revisions still use them.

package demoserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// served is a demo server that runs in its own goroutine until the test calls end or endRaw.
type served struct {
	t      *testing.T
	in     io.WriteCloser // the client's ends of the pipes
	out    io.ReadCloser
	log    *syncBuffer
	record string
	tmp    string
	exits  chan int
	stop   context.CancelCauseFunc
	done   chan struct{}
	err    error // the error of Run, set before done is closed
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func serve(t *testing.T) *served {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &served{
		t: t, in: inW, out: outR, log: &syncBuffer{}, tmp: t.TempDir(),
		record: filepath.Join(t.TempDir(), "record.jsonl"), exits: make(chan int, 1), done: make(chan struct{}),
	}
	ctx, stop := context.WithCancelCause(t.Context())
	s.stop = stop
	go func() {
		defer close(s.done)
		s.err = demoserver.Run(ctx, demoserver.Options{
			In: inR, Out: outW, Log: s.log, Record: s.record, Version: "1.2.3", TempDir: s.tmp,
			Exit: func(code int) { s.exits <- code },
		})
	}()
	return s
}

// end closes the server's input and waits for Run to return.
func (s *served) end() {
	s.t.Helper()
	_ = s.in.Close()
	go func() { _, _ = io.Copy(io.Discard, s.out) }() // reads the last answers; ends when Run returns
	<-s.done
	if s.err != nil {
		s.t.Errorf("Run: %v", s.err)
	}
	s.stop(errors.New("test is over"))
}

func (s *served) events() []demoserver.Event {
	s.t.Helper()
	b, err := os.ReadFile(s.record)
	if err != nil {
		s.t.Fatal(err)
	}
	var all []demoserver.Event
	for line := range bytes.Lines(b) {
		var e demoserver.Event
		if err := json.Unmarshal(line, &e); err != nil {
			s.t.Fatalf("record line %q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// event returns the only event with this name and tool. It fails the test if there is not exactly one.
func (s *served) event(name, tool string) demoserver.Event {
	s.t.Helper()
	var found []demoserver.Event
	for _, e := range s.events() {
		if e.Event == name && e.Tool == tool {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		s.t.Fatalf("%d events %s of %q, want 1; all: %+v", len(found), name, tool, s.events())
	}
	return found[0]
}

// client is the client of the official SDK, with the notifications that it received.
type client struct {
	*mcp.ClientSession
	t        *testing.T
	progress chan *mcp.ProgressNotificationParams
	logs     chan *mcp.LoggingMessageParams
	changed  chan struct{}
}

type clientOptions struct {
	revision string // "" is legacy
	elicit   func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)
	sample   func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error)
	noRoots  bool
	manual   bool // no automatic MRTR rounds
}

func (s *served) connect(o clientOptions) *client {
	s.t.Helper()
	return s.connectTo(&mcp.IOTransport{Reader: s.out, Writer: s.in}, o)
}

func (s *served) connectTo(transport mcp.Transport, o clientOptions) *client {
	s.t.Helper()
	c := &client{
		t:        s.t,
		progress: make(chan *mcp.ProgressNotificationParams, 10000),
		logs:     make(chan *mcp.LoggingMessageParams, 10000),
		changed:  make(chan struct{}, 10),
	}
	caps := &mcp.ClientCapabilities{}
	if !o.noRoots {
		caps.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
	}
	if o.elicit != nil {
		caps.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{},
			URL: &mcp.URLElicitationCapabilities{}}
	}
	opts := &mcp.ClientOptions{
		Capabilities:         caps,
		ElicitationHandler:   o.elicit,
		CreateMessageHandler: o.sample,
		MultiRoundTrip:       &mcp.MultiRoundTripOptions{Disabled: o.manual},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.progress <- r.Params
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { c.logs <- r.Params },
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			c.changed <- struct{}{}
		},
	}
	cl := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, opts)
	if !o.noRoots {
		cl.AddRoots(&mcp.Root{URI: "file:///demo/root"})
	}
	if o.revision == "" {
		o.revision = legacy
	}
	cs, err := cl.Connect(s.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: o.revision})
	if err != nil {
		s.t.Fatal(err)
	}
	c.ClientSession = cs
	return c
}

// call calls a tool with a progress token.
func (c *client) call(ctx context.Context, tool string, args any) (*mcp.CallToolResult, error) {
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	p.SetProgressToken("token-" + tool)
	return c.CallTool(ctx, p)
}

// text calls a tool and returns its text and isError.
func (c *client) text(tool string, args any) (string, bool) {
	c.t.Helper()
	res, err := c.call(c.t.Context(), tool, args)
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return resultText(c.t, res), res.IsError
}

func resultText(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if len(res.Content) != 1 {
		t.Fatalf("%d content blocks, want 1", len(res.Content))
	}
	tc, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("content is a %T", res.Content[0])
	}
	return tc.Text
}

// inBubble runs body in a synctest bubble with a server and a client of the SDK.
func inBubble(t *testing.T, o clientOptions, body func(t *testing.T, s *served, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t)
		c := s.connect(o)
		body(t, s, c)
		if err := c.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
		s.end()
	})
}
