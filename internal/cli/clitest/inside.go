package clitest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/watch"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/cli"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/demoserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
)

// Commands run in this process, as do the hubs that they open, and the MCP servers of these hubs: the demo server where
// a config names the program, and fake ones. The test must not run beside others: the variables of the commands are
// those of this process.
type Commands struct {
	Settings
	bubbles bool // each run has fake time of its own

	Hub   *hubInside    // the last one
	Files watcher       // its own, in a bubble
	Slow  time.Duration // for which the start of each server takes

	Log    Heard     // what demo servers say
	Stdout io.Writer // in the place of what is kept; nil: none

	Fake func() *fakeserver.Server // makes the server with the command "fake"; called once in a run
	Site func() http.Handler       // makes what all URLs lead to, nil for nobody; called once in a hub. nil: sockets

	servers sync.WaitGroup // those that run

	mu      sync.Mutex // guards what follows
	Server  *fakeserver.Server
	Opened  int      // servers
	endings []func() // what is to be done at the end of the command
}

// Inside returns commands that see the machine's clock, and reach URLs by sockets.
func Inside(t *testing.T) *Commands {
	t.Helper()
	c := &Commands{Settings: Settings{T: t, Folder: t.TempDir(), inside: true}}
	c.Binary = filepath.Join(c.Folder, "mcphub")
	if runtime.GOOS == "windows" {
		c.Binary += ".exe"
	}
	if err := os.WriteFile(c.Binary, nil, 0o700); err != nil { // who looks for the program of a server finds it
		t.Fatal(err)
	}
	c.Setenv(handshake.EnvStateDir, filepath.Join(c.Folder, "state"))
	c.Setenv(handshake.EnvDumpable, "1") // other tests of this process look at processes
	return c
}

// InBubbles returns commands each of which runs in a bubble with fake time.
func InBubbles(t *testing.T) *Commands {
	t.Helper()
	c := Inside(t)
	c.bubbles = true
	return c
}

// Alone does something in a bubble, if these commands run in bubbles.
func (c *Commands) Alone(do func(t *testing.T)) {
	c.T.Helper()
	outer := c.T
	if !c.bubbles {
		do(outer)
		return
	}
	synctest.Test(outer, func(t *testing.T) {
		c.T = t
		do(t)
	})
	c.T = outer
}

// Run runs a command to its end, with an empty input.
func (c *Commands) Run(args ...string) Ended {
	c.T.Helper()
	return c.RunWith("", args...)
}

// RunWith is run with a standard input.
func (c *Commands) RunWith(stdin string, args ...string) (r Ended) {
	c.T.Helper()
	c.Alone(func(*testing.T) { r = c.StartWith(strings.NewReader(stdin), args...).Read() })
	return r
}

// InterruptedAt runs a command that is interrupted once it has printed a text.
func (c *Commands) InterruptedAt(text string, args ...string) (r Ended) {
	c.T.Helper()
	c.Alone(func(t *testing.T) {
		s := c.Start(args...)
		s.Said.Await(t, text)
		s.Interrupt()
		r = s.Read()
	})
	return r
}

// Start starts a command with an empty input.
func (c *Commands) Start(args ...string) *Started {
	c.T.Helper()
	return c.StartWith(strings.NewReader(""), args...)
}

// StartWith starts a command with a standard input.
func (c *Commands) StartWith(stdin io.Reader, args ...string) *Started {
	c.T.Helper()
	c.Server, c.Opened = nil, 0
	s := &Started{T: c.T, signals: make(chan os.Signal, 2), over: make(chan struct{})}
	to := io.Writer(&s.Stdout)
	if c.Stdout != nil {
		to = c.Stdout
	}
	env := Printing(io.MultiWriter(to, &s.Said), io.MultiWriter(&s.Stderr, &s.Said))
	env.In, env.Spawn, env.Inside = stdin, c.spawn, c.openInside
	env.Interrupts = func() (<-chan os.Signal, func()) { return s.signals, func() {} }
	go func() {
		defer close(s.over)
		s.status = cli.Run(env, args)
		if c.bubbles {
			// A server hears what the command has closed before it is closed itself. TestCallURL, beside endless loops, saw a
			// server that was stopped first. Not synctest.Wait, which the test may be in.
			faketime.Pass(1)
		}
		c.mu.Lock()
		endings := c.endings
		c.endings = nil
		c.mu.Unlock()
		for _, end := range endings {
			end()
		}
		c.servers.Wait()
	}()
	c.T.Cleanup(func() { // a test that has failed leaves nothing either
		select {
		case s.signals <- os.Interrupt:
		default:
		}
		<-s.over
	})
	return s
}

// Printing is the factory of a command that opens no hub.
func Printing(stdout, stderr io.Writer) *door.Factory {
	return &door.Factory{Streams: console.Streams{In: strings.NewReader(""), Out: &console.Output{W: stdout}, Err: stderr}, Version: "0.0.0-test"}
}

// hubInside is a hub of this process in the place of one in a process of its own. It may be closed before its command
// closes it, as a process may end.
type hubInside struct {
	*plugin.Inside
	once  sync.Once
	ended chan struct{}
}

func (h *hubInside) PID() int { return os.Getpid() }

func (h *hubInside) Done() <-chan struct{} { return h.ended }

func (h *hubInside) Close(ctx context.Context) (err error) {
	h.once.Do(func() {
		err = h.Inside.Close(ctx)
		close(h.ended)
	})
	return err
}

func (c *Commands) spawn(_ context.Context, o host.Options) (*door.Client, error) {
	dir := os.Getenv(handshake.EnvStateDir)
	for _, variable := range o.Env {
		if value, ok := strings.CutPrefix(variable, handshake.EnvStateDir+"="); ok {
			dir = value
		}
	}
	opened, err := c.openInside(hub.Options{Version: "0.0.0-test", StateDir: dir, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	c.Hub = &hubInside{Inside: opened, ended: make(chan struct{})}
	return door.NewClient(opened.Conn, c.Hub), nil
}

func (c *Commands) openInside(o hub.Options) (*plugin.Inside, error) {
	if c.bubbles {
		c.Files = make(watcher)
		o.Watch = func() hub.FileWatcher { return c.Files }
	}
	o.Open = c.open
	if c.Site == nil {
		return plugin.OpenInside(o)
	}
	memory := fakeserver.NewMemory()
	road := memory.RoundTripper()
	server := &http.Server{Handler: c.Site()}
	if server.Handler == nil {
		_ = memory.Close()
	}
	c.servers.Go(func() { _ = server.Serve(memory) })
	c.AtEnd(func() {
		road.CloseIdleConnections()
		_ = server.Close()
	})
	o.RoundTripper = road
	return plugin.OpenInside(o)
}

// watcher tells of the changes of files that a test sends to it.
type watcher chan watch.Change

func (w watcher) Set([]string, []watch.Glob) {}

func (w watcher) Events() <-chan watch.Change { return w }

func (w watcher) Close() { close(w) }

// AtEnd has something done when the command has ended.
func (c *Commands) AtEnd(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endings = append(c.endings, do)
}

// open connects a server without a URL. Its streams are pipes, as those of a process are.
func (c *Commands) open(s config.Server, stderr func(line string)) mcp.Opener {
	if s.URL != "" {
		return nil
	}
	return func(context.Context) (*mcp.Link, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		serve := func(in io.ReadCloser, out io.WriteCloser) exit.Status { return c.serve(s.Args, stderr, in, out) }
		switch {
		case s.Command == "fake" && c.Fake != nil:
			if c.Server == nil {
				c.Server = c.Fake()
			}
			fake := c.Server
			serve = func(in io.ReadCloser, out io.WriteCloser) exit.Status {
				_ = fake.Serve(context.Background(), in, out) // what it says of a disconnect is of no interest
				return exit.OK
			}
		case filepath.Clean(s.Command) != c.Binary:
			_, err := process.Find(process.Command{Path: s.Command, Dir: s.Dir})
			return nil, err
		}
		c.Opened++
		fromHub, in := io.Pipe()
		out, toHub := io.Pipe()
		done, status := make(chan struct{}), exit.OK
		c.servers.Go(func() {
			defer close(done)
			if c.Slow > 0 {
				faketime.Pass(c.Slow)
			}
			status = serve(fromHub, toHub)
			_, _ = fromHub.Close(), toHub.Close()
		})
		end := func() error {
			_ = in.Close()
			if c.bubbles { // it reads what it was sent, as a process does that is given time to end
				faketime.Pass(1)
			}
			_ = out.Close()
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
func (c *Commands) serve(args []string, stderr func(line string), in io.ReadCloser,
	out io.WriteCloser) (status exit.Status) {
	set := pflag.NewFlagSet("demo-server", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	record, greet := set.String("record", "", ""), set.String("greet", "", "")
	if len(args) == 0 || args[0] != "demo-server" || set.Parse(args[1:]) != nil {
		return exit.Usage
	}
	if *greet != "" {
		stderr(*greet)
	}
	if err := demoserver.Run(context.Background(), demoserver.Options{In: in, Out: out, Record: *record,
		Log: io.MultiWriter(&c.Log, lines(stderr)), Exit: func(code int) {
			status = exit.Status(code)
			_, _ = in.Close(), out.Close()
		}}); err != nil {
		stderr(err.Error())
	}
	return status
}

// Run runs a command without a process of its own.
func Run(t *testing.T, args ...string) (stdout, stderr string, status exit.Status) {
	t.Helper()
	var out, said strings.Builder
	status = cli.Run(Printing(&out, &said), args)
	return out.String(), said.String(), status
}

// EveryCommand returns the path of each command that is not hidden.
func EveryCommand() [][]string {
	var paths [][]string
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() || child.Name() == "help" {
				p := append(slices.Clone(path), child.Name())
				paths = append(paths, p)
				walk(child, p)
			}
		}
	}
	walk(cli.NewTree(Printing(io.Discard, io.Discard)), nil)
	return paths
}

// LibraryServer has resources and prompt templates. A read of wait:forever is never answered.
func LibraryServer() *fakeserver.Server {
	s := fakeserver.New(fakeserver.WithCapabilities(`{"resources":{},"prompts":{}}`))
	s.Handle("resources/list", func(c *fakeserver.CallContext) {
		c.Result(
			`{"resources":[{"uri":"file:///a","name":"a","title":"First","description":"Of all.\nMore.","mimeType":"text/plain"},{"uri":"wait:forever","name":"w"}]}`)
	})
	s.Handle("resources/templates/list", func(c *fakeserver.CallContext) {
		c.Result(`{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"any"}]}`)
	})
	s.Handle("resources/read", func(c *fakeserver.CallContext) {
		switch string(c.Param("uri")) {
		case `"file:///a"`:
			c.Result(`{"contents":[{"uri":"file:///a","text":"the text"},{"uri":"file:///a","blob":"AA=="}]}`)
		case `"wait:forever"`:
			_ = c.Hang()
		default:
			c.Error(-32002, "no such thing")
		}
	})
	s.Handle("prompts/list", func(c *fakeserver.CallContext) {
		c.Result(
			`{"prompts":[{"name":"greet","description":"Greets.","arguments":[{"name":"who","required":true},{"name":"how"}]}]}`)
	})
	s.Handle("prompts/get", func(c *fakeserver.CallContext) {
		var arguments map[string]string
		if err := json.Unmarshal(c.Param("arguments"), &arguments); err != nil {
			c.Error(-32602, err.Error())
			return
		}
		c.Result(`{"messages":[{"role":"user","content":{"type":"text","text":"Greet ` + arguments["who"] + `!"}}]}`)
	})
	return s
}
