package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/watch"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/demoserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
)

// commands run in this process, as do the hubs that they open, and the MCP servers of these hubs: the demo server where
// a config names the program, and fake ones. The test must not run beside others: the variables of the commands are
// those of this process.
type commands struct {
	settings
	bubbles bool // each run has fake time of its own

	hub   *hubInside    // the last one
	files watcher       // its own, in a bubble
	slow  time.Duration // for which the start of each server takes

	log    heard     // what demo servers say
	stdout io.Writer // in the place of what is kept; nil: none

	fake func() *fakeserver.Server // makes the server with the command "fake"; called once in a run
	site func() http.Handler       // makes what all URLs lead to, nil for nobody; called once in a hub. nil: sockets

	servers sync.WaitGroup // those that run

	mu      sync.Mutex // guards what follows
	server  *fakeserver.Server
	opened  int      // servers
	endings []func() // what is to be done at the end of the command
}

// inside returns commands that see the machine's clock, and reach URLs by sockets.
func inside(t *testing.T) *commands {
	t.Helper()
	c := &commands{settings: settings{t: t, dir: t.TempDir(), inside: true}}
	c.path = filepath.Join(c.dir, "mcphub")
	if runtime.GOOS == "windows" {
		c.path += ".exe"
	}
	if err := os.WriteFile(c.path, nil, 0o700); err != nil { // who looks for the program of a server finds it
		t.Fatal(err)
	}
	c.setenv(handshake.EnvStateDir, filepath.Join(c.dir, "state"))
	c.setenv(handshake.EnvDumpable, "1") // other tests of this process look at processes
	return c
}

// inBubbles returns commands each of which runs in a bubble with fake time.
func inBubbles(t *testing.T) *commands {
	t.Helper()
	c := inside(t)
	c.bubbles = true
	return c
}

// alone does something in a bubble, if these commands run in bubbles.
func (c *commands) alone(do func(t *testing.T)) {
	c.t.Helper()
	outer := c.t
	if !c.bubbles {
		do(outer)
		return
	}
	synctest.Test(outer, func(t *testing.T) {
		c.t = t
		do(t)
	})
	c.t = outer
}

// run runs a command to its end, with an empty input.
func (c *commands) run(args ...string) ended {
	c.t.Helper()
	return c.runWith("", args...)
}

// runWith is run with a standard input.
func (c *commands) runWith(stdin string, args ...string) (r ended) {
	c.t.Helper()
	c.alone(func(*testing.T) { r = c.startWith(strings.NewReader(stdin), args...).read() })
	return r
}

// interruptedAt runs a command that is interrupted once it has printed a text.
func (c *commands) interruptedAt(text string, args ...string) (r ended) {
	c.t.Helper()
	c.alone(func(t *testing.T) {
		s := c.start(args...)
		s.said.await(t, text)
		s.interrupt()
		r = s.read()
	})
	return r
}

// start starts a command with an empty input.
func (c *commands) start(args ...string) *started {
	c.t.Helper()
	return c.startWith(strings.NewReader(""), args...)
}

// startWith starts a command with a standard input.
func (c *commands) startWith(stdin io.Reader, args ...string) *started {
	c.t.Helper()
	c.server, c.opened = nil, 0
	s := &started{t: c.t, signals: make(chan os.Signal, 2), over: make(chan struct{})}
	to := io.Writer(&s.stdout)
	if c.stdout != nil {
		to = c.stdout
	}
	env := printing(io.MultiWriter(to, &s.said), io.MultiWriter(&s.stderr, &s.said))
	env.stdin, env.spawn, env.inside = stdin, c.spawn, c.openInside
	env.interrupts = func() (<-chan os.Signal, func()) { return s.signals, func() {} }
	go func() {
		defer close(s.over)
		s.status = run(args, env)
		c.mu.Lock()
		endings := c.endings
		c.endings = nil
		c.mu.Unlock()
		for _, end := range endings {
			end()
		}
		c.servers.Wait()
	}()
	c.t.Cleanup(func() { // a test that has failed leaves nothing either
		select {
		case s.signals <- os.Interrupt:
		default:
		}
		<-s.over
	})
	return s
}

// printing is the environment of a command that opens no hub.
func printing(stdout, stderr io.Writer) environment {
	return environment{stdin: strings.NewReader(""), stdout: &output{w: stdout}, stderr: stderr}
}

// hubInside is a hub of this process in the place of one in a process of its own. It may be closed before its command
// closes it, as a process may end.
type hubInside struct {
	*plugin.Inside
	once  sync.Once
	ended chan struct{}
}

func (h *hubInside) PID() int              { return os.Getpid() }
func (h *hubInside) Done() <-chan struct{} { return h.ended }

func (h *hubInside) Close(ctx context.Context) (err error) {
	h.once.Do(func() {
		err = h.Inside.Close(ctx)
		close(h.ended)
	})
	return err
}

func (c *commands) spawn(_ context.Context, o host.Options) (*hubClient, error) {
	dir := os.Getenv(handshake.EnvStateDir)
	for _, variable := range o.Env {
		if value, ok := strings.CutPrefix(variable, handshake.EnvStateDir+"="); ok {
			dir = value
		}
	}
	opened, err := c.openInside(hub.Options{Version: version, StateDir: dir, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	c.hub = &hubInside{Inside: opened, ended: make(chan struct{})}
	return newHubClient(opened.Conn, c.hub), nil
}

func (c *commands) openInside(o hub.Options) (*plugin.Inside, error) {
	if c.bubbles {
		c.files = make(watcher)
		o.Watch = func() hub.FileWatcher { return c.files }
	}
	o.Open = c.open
	if c.site == nil {
		return plugin.OpenInside(o)
	}
	memory := fakeserver.NewMemory()
	road := memory.RoundTripper()
	server := &http.Server{Handler: c.site()}
	if server.Handler == nil {
		_ = memory.Close()
	}
	c.servers.Go(func() { _ = server.Serve(memory) })
	c.atEnd(func() {
		road.CloseIdleConnections()
		_ = server.Close()
	})
	o.RoundTripper = road
	return plugin.OpenInside(o)
}

// watcher tells of the changes of files that a test sends to it.
type watcher chan watch.Change

func (w watcher) Set([]string, []watch.Glob)  {}
func (w watcher) Events() <-chan watch.Change { return w }
func (w watcher) Close()                      { close(w) }

// atEnd has something done when the command has ended.
func (c *commands) atEnd(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endings = append(c.endings, do)
}

// open connects a server without a URL. Its streams are pipes, as those of a process are.
func (c *commands) open(s config.Server, stderr func(line string)) mcp.Opener {
	if s.URL != "" {
		return nil
	}
	return func(context.Context) (*mcp.Link, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		serve := func(in io.ReadCloser, out io.WriteCloser) int { return c.serve(s.Args, stderr, in, out) }
		switch {
		case s.Command == "fake" && c.fake != nil:
			if c.server == nil {
				c.server = c.fake()
			}
			fake := c.server
			serve = func(in io.ReadCloser, out io.WriteCloser) int {
				_ = fake.Serve(context.Background(), in, out) // what it says of a disconnect is of no interest
				return 0
			}
		case filepath.Clean(s.Command) != c.path:
			_, err := transport.Find(transport.Command{Path: s.Command, Dir: s.Dir})
			return nil, err
		}
		c.opened++
		fromHub, in := io.Pipe()
		out, toHub := io.Pipe()
		done, status := make(chan struct{}), 0
		c.servers.Go(func() {
			defer close(done)
			if c.slow > 0 {
				faketime.Pass(c.slow)
			}
			status = serve(fromHub, toHub)
			_, _ = fromHub.Close(), toHub.Close()
		})
		end := func() error {
			_, _ = in.Close(), out.Close()
			<-done
			return nil
		}
		return &mcp.Link{Conn: jsonrpc.NewLineConn(out, in, jsonrpc.LineConnOptions{Close: end}),
			Kill: func(string) { _ = end() }, Ended: func() string { return fmt.Sprintf("exited with status %d", status) },
			Exit: func() string { return fmt.Sprintf("exited with status %d", status) }}, nil
	}
}

// lines gets whole lines of text.
type lines func(line string)

func (l lines) Write(text []byte) (int, error) {
	l(strings.TrimSuffix(string(text), "\n"))
	return len(text), nil
}

// serve is the program as a server, which only the demo server is. It returns the exit status.
func (c *commands) serve(args []string, stderr func(line string), in io.ReadCloser, out io.WriteCloser) (status int) {
	var o demoServerOptions
	if len(args) == 0 || args[0] != "demo-server" || o.flags().Parse(args[1:]) != nil {
		return exitUsage
	}
	if o.greet != "" {
		stderr(o.greet)
	}
	if err := demoserver.Run(context.Background(), demoserver.Options{In: in, Out: out, Record: o.record,
		Log: io.MultiWriter(&c.log, lines(stderr)), Exit: func(code int) {
			status = code
			_, _ = in.Close(), out.Close()
		}}); err != nil {
		stderr(err.Error())
	}
	return status
}
