package plugin

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// Exit statuses of a hub process.
const (
	// ExitOK: the hub closed in time, whatever the reason.
	ExitOK = 0
	// ExitBroken: a fault of the hub may have damaged its state; the last line of the log says so. It is the status with
	// which Go ends after a panic.
	ExitBroken = 2
	// ExitFailed: the start failed, nobody ever connected, or the hub could not close within its time.
	ExitFailed = 1
	// ExitTerminated: a second SIGTERM came while the hub was closing (128 + SIGTERM, as a shell reports it).
	ExitTerminated = 143
)

// Hub is what Serve serves.
type Hub interface {
	// Register adds the services to the server. It is called once, before the server starts.
	Register(s grpc.ServiceRegistrar)
	// ServerOptions returns options for the server that carries the services and those of go-plugin.
	ServerOptions() []grpc.ServerOption
	// Close ends all work and all child processes. When ctx ends, it must kill what is left, and return soon after. It is
	// called once, even if a Drain call came before.
	Close(ctx context.Context) error
}

// Serve serves the hub to the host that spawned this process, until the host shuts it down, SIGTERM (or SIGHUP) comes,
// or the host is gone. Then it closes the hub. It returns the exit status of the process, for os.Exit: one of the Exit
// constants.
//
// makeHub is called once, after the checks that the process may serve, and before anybody can connect. Its logger
// writes to the host and never blocks; fatal ends the process at once, with a last line in the log.
//
// Serve takes over the process's standard output and error, and SIGTERM, SIGHUP, SIGINT and SIGPIPE. It must be called
// once only, from main.
func Serve(makeHub func(l *slog.Logger, fatal func(text string)) (Hub, error)) int {
	out := newLogWriter(os.Stderr) // go-plugin replaces that variable soon
	defer out.flush(flushTime)
	level, levelProblem := logLevel(os.Getenv(handshake.EnvLog))
	logger := newLogger(out, level)
	if levelProblem != "" {
		logger.Warn(levelProblem)
	}

	back, graceProblem := returnGrace(os.LookupEnv)
	if graceProblem != "" {
		logger.Warn(graceProblem)
	}

	process.InheritNothing()
	if os.Getenv(handshake.EnvDumpable) != "1" {
		if err := process.Hide(); err != nil {
			logger.Warn("the servers can read this process's environment in /proc", "error", err)
		}
	}

	signals := watchSignals()
	defer signals.stop()

	if problem := startProblem(runtime.GOOS, os.Getenv); problem != "" {
		logger.Error("the hub did not start: " + problem)
		return ExitFailed
	}
	hub, err := makeHub(logger, func(text string) {
		logger.Error(text)
		out.flush(fatalFlushTime)
		os.Exit(ExitBroken)
	})
	if err != nil {
		logger.Error("the hub did not start", "error", err)
		return ExitFailed
	}
	d := &door{
		hub:      hub,
		logger:   logger,
		life:     newLifeline(newParent(), back),
		signals:  signals,
		returned: make(chan struct{}),
	}
	go d.serve(newPluginLogger(out, level))
	return d.run()
}

// door is a hub that is being served.
type door struct {
	hub     Hub
	logger  *slog.Logger
	life    *lifeline
	signals *signalWatch

	server   atomic.Pointer[grpc.Server] // set by serve once it exists
	returned chan struct{}               // closed by serve
}

// run waits for the first reason to end, and closes the hub.
func (d *door) run() int {
	watching, stopWatching := context.WithCancelCause(context.Background())
	orphaned := make(chan string, 1)
	watchEnded := make(chan struct{})
	go func() {
		defer close(watchEnded)
		if why, over := d.life.watch(watching); over {
			orphaned <- why
		}
	}()
	defer func() {
		stopWatching(errServeOver)
		<-watchEnded
	}()

	select {
	case <-d.returned:
		if !d.life.everConnected() {
			d.logger.Error("the hub did not start: no connection could be served; see the line before")
			d.close(roadFailed)
			return ExitFailed
		}
		return d.close(roadShutdown)
	case s := <-d.signals.end:
		d.logger.Info("closing", "why", "signal "+s.String())
		code := d.close(roadSignal)
		d.stopServer()
		return code
	case why := <-orphaned:
		d.logger.Warn("closing", "why", why)
		code := d.close(roadOrphaned)
		d.stopServer()
		removeSocketDir(os.Getenv(handshake.EnvSocketDir))
		if !d.life.everConnected() {
			return ExitFailed
		}
		return code
	}
}

// stopServer closes the listener, and with it the socket file, and waits up to stopTime for serve to return.
func (d *door) stopServer() {
	if s := d.server.Load(); s != nil {
		s.Stop() // never GracefulStop: it would wait for ever for an attached window
		select {
		case <-d.returned:
		case <-time.After(stopTime):
		}
	}
}

// removeSocketDir removes the directory of the socket, if a host that died has left it. The directory was made for this
// hub alone. If it does not look so, it is not removed.
func removeSocketDir(dir string) {
	info, err := os.Lstat(dir)
	if dir == "" || err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return
	}
	_ = os.Remove(dir) // fails if there is anything else in it, as it should
}

// serve runs go-plugin until the server has stopped.
func (d *door) serve(logger hclog.Logger) {
	defer close(d.returned)
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  handshake.Config(),
		VersionedPlugins: map[int]goplugin.PluginSet{handshake.ProtocolVersion: {handshake.PluginKey: &served{hub: d.hub}}},
		Logger:           logger,
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			opts = append(opts, d.hub.ServerOptions()...)
			opts = append(opts, grpc.StatsHandler(d.life))
			s := grpc.NewServer(opts...)
			d.server.Store(s)
			return s
		},
	})
}

// served registers the hub's services with go-plugin's server.
type served struct {
	goplugin.NetRPCUnsupportedPlugin
	hub Hub
}

func (s *served) GRPCServer(_ *goplugin.GRPCBroker, server *grpc.Server) error {
	s.hub.Register(server)
	return nil
}

func (s *served) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errNoClient
}

// road is a reason for the end of the process. For each the hub is closed in the same way, but with another time
// budget.
type road struct {
	why    string
	budget time.Duration // the time that Close gets
}

var (
	// A Go host kills the process 2 s after it asked for shutdown. Budget and slack together are less than that.
	roadShutdown = road{"the host shut the hub down", 1500 * time.Millisecond}
	// Senders of SIGTERM wait longer than that: service managers and shells wait 5 s or more.
	roadSignal = road{"a signal asked for it", 5 * time.Second}
	// Together with the grace period of the lifeline, everything has ended within 5 s after the host's death.
	roadOrphaned = road{"the host is gone", 3 * time.Second}
	// Nothing was running yet.
	roadFailed = road{"the start failed", 1500 * time.Millisecond}
)

const (
	// closeSlack is the time beyond the budget in which Close may kill what is left and return.
	closeSlack = 250 * time.Millisecond
	// stopTime limits the wait for the gRPC server to end after it was stopped.
	stopTime = 500 * time.Millisecond
	// flushTime limits the wait for the last log lines to be written, since the host may no longer read them.
	flushTime = 100 * time.Millisecond
	// fatalFlushTime is flushTime for a hub that cannot go on: its last log line is all that a host learns.
	fatalFlushTime = time.Second
)

var (
	errServeOver = errors.New("the hub is closing")
	errNoClient  = errors.New("this side only serves")
)

// close closes the hub within the budget of r. A second SIGTERM ends the wait at once. If Close hangs, the process ends
// without it.
func (d *door) close(r road) int {
	ctx, cancel := context.WithTimeoutCause(context.Background(), r.budget,
		errors.New("closing took longer than "+r.budget.String()))
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- d.hub.Close(ctx) }()
	hard := time.NewTimer(r.budget + closeSlack)
	defer hard.Stop()
	select {
	case err := <-closed:
		if err != nil {
			d.logger.Error("the hub did not close in order", "why", r.why, "error", err)
			return ExitFailed
		}
		d.logger.Info("closed", "why", r.why)
		return ExitOK
	case <-hard.C:
		d.logger.Error("the hub did not close in time", "why", r.why, "budget", r.budget.String())
		return ExitFailed
	case <-d.signals.again:
		d.logger.Error("left at once: a second SIGTERM came while closing", "why", r.why)
		return ExitTerminated
	}
}
