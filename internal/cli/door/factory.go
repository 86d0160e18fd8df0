// Package door opens hubs for commands: in a process of its own, or in this process. Its Factory is what commands get;
// its windows show what a hub does, and answer its questions.
//
// What must not live here: what commands ask a hub, and how its events are described.
package door

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Client is a client of an open hub.
type Client struct {
	Hub     mcphubv1.McpHubServiceClient
	Servers mcphubv1.McpServerServiceClient
	Editor  mcphubv1.EditorServiceClient
	hubProcess
}

// hubProcess is the process of an open hub, as [host.Client] has it.
type hubProcess interface {
	PID() int
	Done() <-chan struct{}
	Close(ctx context.Context) error
}

// NewClient returns a client of the hub of a process.
func NewClient(conn *grpc.ClientConn, p hubProcess) *Client {
	return &Client{mcphubv1.NewMcpHubServiceClient(conn), mcphubv1.NewMcpServerServiceClient(conn),
		mcphubv1.NewEditorServiceClient(conn), p}
}

// spawn spawns a hub behind the plugin's door.
func spawn(ctx context.Context, o host.Options) (*Client, error) {
	client, err := host.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return NewClient(client.Conn(), client), nil
}

// openInside opens a hub in this process, whose servers this executable guards.
func openInside(o hub.Options) (*plugin.Inside, error) { return plugin.OpenInside(o, "guard") }

// CloseTime bounds the end of a hub: draining, the grace periods of its servers, and killing what is left.
const CloseTime = 15 * time.Second

// HurriedCloseTime bounds the end of a hub if the user has interrupted twice.
const HurriedCloseTime = 3 * time.Second

// Factory gives commands what they share: the standard streams, interrupts, and the hubs that they open.
type Factory struct {
	console.Streams
	Version string // of the program
	// Interrupts returns a channel that gets the interrupts of the user until stop is called.
	Interrupts func() (signals <-chan os.Signal, stop func())
	// Spawn opens a hub in a process of its own, Inside one in this process.
	Spawn  func(ctx context.Context, o host.Options) (*Client, error)
	Inside func(o hub.Options) (*plugin.Inside, error)
}

// NewFactory returns the factory of a process: its streams and signals, and hubs that this executable serves.
func NewFactory(version string) *Factory {
	return &Factory{console.Standard(), version, notifyInterrupts, spawn, openInside}
}

// Open spawns this executable as the plugin and connects to it. The hub keeps its state in stateDir, unless the
// environment names a directory.
func (f *Factory) Open(ctx context.Context, stateDir string) (*Client, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, exit.Failf("UNAVAILABLE", "cannot find the own executable: %v", err)
	}
	options := host.Options{Command: executable}
	if _, chosen := os.LookupEnv(handshake.EnvStateDir); !chosen {
		options.Env = append(options.Env, handshake.EnvStateDir+"="+stateDir)
	}
	if options.Logger = f.Logger(); options.Logger != nil {
		options.Stderr = f.Err
	}
	client, err := f.Spawn(ctx, options)
	if err != nil {
		return nil, exit.FailureOf(err)
	}
	return client, nil
}

// Logger returns a logger for the hub's log, nil unless logs were asked for: otherwise they would appear between
// the lines that the command prints for people.
func (f *Factory) Logger() *slog.Logger {
	if os.Getenv(handshake.EnvLog) == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(f.Err, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// StateDir returns the directory in which the hubs of a kind of command keep their state: the one that the environment
// names, or else one with this name in mcphub's. With a directory of its own, a person who has signed in need not do so
// again with each command; but what was agreed to there holds neither for other kinds of commands nor for editors. It
// is "" if there is none: then all of it lasts only as long as the hub.
func StateDir(name string) string {
	if dir, chosen := os.LookupEnv(handshake.EnvStateDir); chosen {
		return dir
	}
	dir, err := plugin.StateDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, name)
}

// Close drains a hub and ends it, within limit. It prints a message if the hub had to be killed.
func (f *Factory) Close(client interface{ Close(context.Context) error }, limit time.Duration) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the hub took too long to end"))
	defer cancel()
	if err := client.Close(ctx); err != nil {
		f.Tell("mcphub: closing the hub: %v", err)
	}
}

// ErrInterrupted is the cause of what an interrupt has ended.
var ErrInterrupted = errors.New("interrupted")

// notifyInterrupts returns a channel that gets Ctrl-C and SIGTERM. stop stops that.
//
// Ctrl-C reaches the whole process group of the terminal, and so the hub, too. The hub ignores it and waits for its
// host, which is this process. SIGPIPE is ignored: a reader of the output that goes away must not end this process
// before the hub is closed.
func notifyInterrupts() (signals <-chan os.Signal, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

// OnInterrupt calls then once, at the first signal. stop ends that and waits for the goroutine. A signal that was not
// received stays in the channel.
func OnInterrupt(signals <-chan os.Signal, then func()) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-signals:
			then()
		case <-quit:
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// Interruptible returns a context that ends with the cause ErrInterrupted at the first interrupt. stop must be called.
func (f *Factory) Interruptible() (ctx context.Context, stop func()) {
	return f.interruptible(false)
}

// InterruptibleOnce is Interruptible for a command whose end may take long: a second interrupt ends the process at
// once.
func (f *Factory) InterruptibleOnce() (ctx context.Context, stop func()) {
	return f.interruptible(true)
}

func (f *Factory) interruptible(once bool) (ctx context.Context, stop func()) {
	signals, stopSignals := f.Interrupts()
	ctx, cancel := context.WithCancelCause(context.Background())
	stopWatch := OnInterrupt(signals, func() {
		cancel(ErrInterrupted)
		if once {
			stopSignals()
		}
	})
	return ctx, func() {
		stopSignals()
		stopWatch()
		cancel(nil)
	}
}
