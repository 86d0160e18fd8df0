package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/hostile"
	"github.com/mcphub-go/mcphub/ipc"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// bound is the time limit of a test that fails.
const bound = faketime.Long

var errBound = errors.New("a bystander waited too long")

// stage is a hub with its gRPC services, two windows, and in-memory servers: hostile ones, and "good", which behaves
// well.
type stage struct {
	t       *testing.T
	hub     *hub.Hub
	conn    *grpc.ClientConn
	calls   mcphubv1.McpHubServiceClient
	servers mcphubv1.McpServerServiceClient
	good    *fakeserver.Server
	evil    map[string]*hostile.Server
	window  *fakeeditor.Window // answers the hostile server
	other   *fakeeditor.Window // the window of a bystander
	n       int

	mu     sync.Mutex // guards what follows, and evil
	opened map[string]int
}

// play returns a stage with one hostile server for each behaviour. extra is added to the config entries of those
// servers.
func play(t *testing.T, extra string, behaviours ...string) *stage {
	t.Helper()
	s := bare(t)
	entries := []string{`"good":{"command":"good","alwaysAllow":["*"]}`}
	for _, name := range behaviours {
		s.evil[name] = newEvil(t, name)
		entries = append(entries, fmt.Sprintf(`%q:{"command":%q,"alwaysAllow":["*"]%s}`, name, name, extra))
	}
	s.load(&mcphubv1.ConfigSource{Path: "/user/mcp.json", Scope: "user", Json: `{"servers":{` +
		strings.Join(entries, ",") + `}}`})
	return s
}

// bare returns a stage without config.
func bare(t *testing.T) *stage {
	t.Helper()
	return bareWith(t, hub.Options{})
}

// bareWith returns a stage with in-memory servers whose hub has the options o.
func bareWith(t *testing.T, o hub.Options) *stage {
	t.Helper()
	s := newStage(t)
	o.Open = s.open
	s.serve(o)
	return s
}

// onSockets returns a stage whose servers are at URLs or in processes. good is the URL of the good server.
func onSockets(t *testing.T) (s *stage, good string) {
	t.Helper()
	s = newStage(t)
	good = s.site(fakeserver.NewHTTP(s.good, fakeserver.HTTPOptions{}))
	s.serve(hub.Options{})
	return s, good + fakeserver.PathMCP
}

// site serves h at the returned URL until the end of the test.
func (s *stage) site(h http.Handler) string {
	web := httptest.NewServer(h)
	s.t.Cleanup(func() {
		if h, ok := h.(interface{ Close() }); ok {
			h.Close()
		}
		web.Close()
	})
	return web.URL
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, good: fakeserver.New(fakeserver.WithCapabilities(`{"tools":{"listChanged":true},"logging":{},` +
		`"resources":{"subscribe":true}}`)), evil: map[string]*hostile.Server{}, opened: map[string]int{}}
	s.good.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
	for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
		s.good.Handle(method, func(c *fakeserver.CallContext) { c.Result("{}") })
	}
	s.good.Tool("hang", func(c *fakeserver.CallContext) { _ = c.Hang() })
	s.good.Tool("work", func(c *fakeserver.CallContext) {
		for i := range 50 {
			c.Progress(float64(i), 50, "working")
		}
		<-c.Cancelled()
	})
	return s
}

// serve starts the hub, its services and its two windows. They end with the test.
func (s *stage) serve(o hub.Options) {
	t := s.t
	t.Helper()
	o.Version = "test"
	s.hub = hub.New(o)
	g := grpc.NewServer(ipc.ServerOptions(ipc.Options{})...)
	ipc.Register(g, s.hub, ipc.Options{})
	s.conn = fakeeditor.Serve(t, g, nil)
	s.calls, s.servers = mcphubv1.NewMcpHubServiceClient(s.conn), mcphubv1.NewMcpServerServiceClient(s.conn)
	t.Cleanup(func() {
		ctx, stop := context.WithTimeoutCause(context.Background(), bound, errBound)
		defer stop()
		if err := s.hub.Close(ctx); err != nil {
			t.Errorf("closing the hub: %v", err)
		}
	})
	s.window = fakeeditor.Open(t.Context(), s.conn, fakeeditor.Options{TB: t, ID: "window"})
	s.other = fakeeditor.Open(t.Context(), s.conn, fakeeditor.Options{TB: t, ID: "other"})
}

// open connects an in-memory server as if it were a process.
func (s *stage) open(c config.Server, stderr func(string)) mcp.Opener {
	return func(context.Context) (*mcp.Link, error) {
		s.mu.Lock()
		s.opened[c.Name]++
		evil := s.evil[c.Command]
		s.mu.Unlock()
		server := s.good
		var noise func(done <-chan struct{})
		if evil != nil {
			server = evil.Server
			if evil.Stderr != nil {
				noise = func(done <-chan struct{}) { evil.Stderr(lines(stderr), done) }
			}
		} else if c.Command != "good" {
			return nil, fmt.Errorf("no such program: %s", c.Command)
		}
		p := server.Start(context.Background())
		quiet := make(chan struct{})
		if noise != nil {
			go func() {
				defer close(quiet)
				noise(p.Done())
			}()
		} else {
			close(quiet)
		}
		conn := jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{MaxLine: c.MaxMessageBytes,
			Close: func() error {
				_ = p.End()
				<-quiet
				return nil
			}})
		return &mcp.Link{Conn: conn, Kill: func(string) { p.Kill() }}, nil
	}
}

// starts returns how often a server was started.
func (s *stage) starts(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened[name]
}

// lines calls the function with each write, as one line.
type lines func(string)

func (f lines) Write(b []byte) (int, error) {
	f(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

func (s *stage) load(sources ...*mcphubv1.ConfigSource) *mcphubv1.ReloadConfigResponse {
	s.t.Helper()
	r, err := s.servers.ReloadConfig(s.t.Context(), &mcphubv1.ReloadConfigRequest{Sources: sources})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// pending is a call in the background. Its goroutine ends with the call.
type pending struct {
	id       string
	done     chan struct{}
	response *mcphubv1.CallToolResponse
	err      error
}

func (s *stage) call(server, tool string) *pending { return s.callWith(server, tool, "") }

func (s *stage) callWith(server, tool, arguments string) *pending {
	s.n++
	p := &pending{id: fmt.Sprintf("r%d", s.n), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.response, p.err = s.calls.CallTool(s.t.Context(), &mcphubv1.CallToolRequest{
			RequestId: p.id, Server: server, Tool: tool, ArgumentsJson: arguments,
		})
	}()
	return p
}

// start starts a server in the background.
func (s *stage) start(server string) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, p.err = s.servers.StartServer(s.t.Context(), &mcphubv1.StartServerRequest{Server: server})
	}()
	return p
}

// newEvil returns a hostile server with a behaviour.
func newEvil(t *testing.T, behaviour string) *hostile.Server {
	t.Helper()
	s, err := hostile.New(behaviour)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// list lists the tools of a server in the background.
func (s *stage) list(server string) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, p.err = s.servers.ListTools(s.t.Context(), &mcphubv1.ListToolsRequest{Server: server})
	}()
	return p
}

// logs waits until each window was shown n log messages of a server.
func (s *stage) logs(server string, n int) {
	s.t.Helper()
	for _, w := range s.both() {
		shown, seen := make(chan struct{}), 0
		go func() {
			defer close(shown)
			w.WaitEvent("log messages of "+server, func(e *mcphubv1.AttachResponse) bool { // each once
				if e.GetLogMessage().GetServer() == server {
					seen++
				}
				return seen >= n
			})
		}()
		s.in(fmt.Sprintf("%d log messages", n), shown)
	}
}

// both returns the windows of the stage.
func (s *stage) both() []*fakeeditor.Window { return []*fakeeditor.Window{s.window, s.other} }

// ends waits for the end of a call.
func (s *stage) ends(p *pending, what string) {
	s.t.Helper()
	select {
	case <-p.done:
	case <-time.After(bound):
		s.t.Fatalf("%s did not end", what)
	}
}

// bystander checks that nobody else is affected by a hostile server: a call of the good server ends, a cancel in the
// other window works, a new window gets its snapshot, and no window was ended.
func (s *stage) bystander() {
	s.t.Helper()
	echo := s.call("good", "echo")
	s.ends(echo, "a call of another server")
	if echo.err != nil {
		s.t.Errorf("a call of another server failed: %v", echo.err)
	}
	hang := s.call("good", "hang")
	replied := make(chan *mcphubv1.Reply, 1)
	go func() {
		s.other.WaitRequest(hang.id, mcphubv1.RequestState_REQUEST_STATE_RUNNING)
		replied <- s.other.CancelRequest(hang.id, "enough")
	}()
	select {
	case r := <-replied:
		if r.GetError() != nil {
			s.t.Errorf("a cancel in another window: %v", r)
		}
	case <-time.After(bound):
		s.t.Fatal("a cancel in another window got no reply")
	}
	s.ends(hang, "a call that another window cancelled")
	ctx, stop := context.WithTimeoutCause(s.t.Context(), bound, errBound)
	defer stop()
	w, err := fakeeditor.Attach(ctx, s.conn, fakeeditor.Options{TB: s.t})
	if err != nil {
		s.t.Fatalf("a new window got no snapshot: %v", err)
	}
	if err := w.Close(); err != nil {
		s.t.Errorf("closing a window: %v", err)
	}
	for _, w := range s.both() {
		if err := w.Err(); err != nil {
			s.t.Errorf("%s was ended: %v", w, err)
		}
	}
}

// does waits until a hostile server has counted what the given number of times.
func (s *stage) does(name, what string, times int) {
	s.t.Helper()
	late := make(chan struct{})
	timer := time.AfterFunc(bound, func() { close(late) })
	defer timer.Stop()
	if !s.evil[name].Await(what, times, late) {
		s.t.Fatalf("%s %s %d times, not %d", name, what, s.evil[name].Count(what), times)
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// settles waits until there are at most so many goroutines.
func (s *stage) settles(most int) {
	s.t.Helper()
	late := time.After(bound)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for runtime.NumGoroutine() > most {
		select {
		case <-look.C:
		case <-late:
			s.t.Fatalf("%d goroutines, want at most %d", runtime.NumGoroutine(), most)
		}
	}
}

// in waits until done is closed, at most for bound.
func (s *stage) in(what string, done <-chan struct{}) {
	s.t.Helper()
	select {
	case <-done:
	case <-time.After(bound):
		s.t.Fatalf("%s did not come", what)
	}
}

// prompt returns an open prompt of a kind. It returns nil if over is closed before one opens.
func (s *stage) prompt(kind mcphubv1.PromptKind, over <-chan struct{}) *mcphubv1.Prompt {
	late := time.After(bound)
	for {
		changed := s.window.Changed()
		for _, p := range s.window.Prompts() {
			if fakeeditor.KindOf(p) == kind {
				return p
			}
		}
		select {
		case <-changed:
		case <-over:
			return nil
		case <-late:
			return nil
		}
	}
}
