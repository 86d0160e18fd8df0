package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// DefaultStartTimeout is how long a hub may take from its start to its first answer. A healthy hub takes 30 ms; the
// rest is for virus scanners and cold disks.
const DefaultStartTimeout = 10 * time.Second

// Flow control windows for what a hub sends: of one call, and of all calls together.
const (
	streamWindow     = 1 << 20
	connectionWindow = 16 << 20
)

// Options are the options of Open. Only Command is required.
type Options struct {
	// Command is the hub's binary: a path, or a name to be found in PATH.
	Command string
	// Args are the arguments of the command. Default: none, with which the command serves.
	Args []string
	// Env is added to the environment of the hub, as NAME=value. The rest is this process's own environment, without the
	// variables of go-plugin, which may have been set for this process.
	Env []string
	// Program names this program. What people answer in its hubs is kept in a directory of its own, and counts in no other
	// program. Default: the name of the executable. MCPHUB_STATE_DIR in Env chooses the directory itself.
	Program string
	// Desktop says that this process was started from a desktop and not from a shell, so servers should get the
	// environment of the user's login shell. Without it the login shell is asked only if a program is not found.
	Desktop bool
	// Dir is the working directory of the hub. Default: this process's own.
	Dir string
	// Logger gets the hub's log lines at their levels, with their attributes. MCPHUB_LOG in Env sets how much the hub
	// logs. Default: the lines are discarded.
	Logger *slog.Logger
	// Stderr gets the lines of the hub's standard error that are not log lines, such as the trace of a panic, with one
	// Write for each line. Default: they are discarded.
	Stderr io.Writer
	// StartTimeout bounds Open. Default: DefaultStartTimeout.
	StartTimeout time.Duration
}

// Client is an open hub. Its methods may be called concurrently.
type Client struct {
	// Hub calls tools and cancels requests.
	Hub mcphubv1.McpHubServiceClient
	// Servers shows and controls the MCP servers.
	Servers mcphubv1.McpServerServiceClient
	// Editor attaches windows.
	Editor mcphubv1.EditorServiceClient
	// Models lists tools and shows results in the form for models.
	Models mcphubv1.ModelToolServiceClient
	// Gateways offers the servers to clients that speak MCP.
	Gateways mcphubv1.GatewayServiceClient
	// Configs adds, changes and removes servers in the config files.
	Configs mcphubv1.ConfigServiceClient
	// Registries finds servers in registries and bundles. It writes nothing.
	Registries mcphubv1.RegistryServiceClient

	conn     *grpc.ClientConn
	proc     *process
	plugin   *goplugin.Client
	closing  chan struct{} // holds a token; the goroutine that takes it closes the hub
	closed   chan struct{} // closed when Close is done
	closeErr error         // written before closed is closed
}

// Open spawns the hub and returns once the hub answers. The context bounds the opening only. The hub lives until Close,
// which must be called even if the hub has ended by itself. An error is an *OpenError; then nothing is left running or
// on disk.
func Open(ctx context.Context, o Options) (*Client, error) {
	if o.StartTimeout <= 0 {
		o.StartTimeout = DefaultStartTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	starting, cancel := context.WithTimeoutCause(ctx, o.StartTimeout, errStartTimeout)
	defer cancel()

	proc := newProcess(o)
	// The only way to stop go-plugin while it starts is to end the process that it waits for.
	stop := context.AfterFunc(starting, proc.kill)
	client, err := connect(starting, o, proc)
	if stop() && err == nil {
		return client, nil
	}
	if err == nil { // the time ran out at the last moment, and the process was killed
		err = context.Cause(starting)
	}
	cause := context.Cause(starting)
	proc.kill()
	proc.abandon(err)
	client.cleanUp()
	return nil, proc.openError(cause, o, err)
}

var errStartTimeout = errors.New("start timeout")

// connect spawns the hub and connects to it. It returns the client even with an error, so that it can be cleaned up.
func connect(ctx context.Context, o Options, proc *process) (*Client, error) {
	c := &Client{
		proc:    proc,
		closing: make(chan struct{}, 1),
		closed:  make(chan struct{}),
	}
	c.closing <- struct{}{}
	c.plugin = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  handshake.Config(),
		VersionedPlugins: map[int]goplugin.PluginSet{handshake.ProtocolVersion: {handshake.PluginKey: contract{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		AutoMTLS:         true,
		// In this directory go-plugin makes a private one (mode 0700) for the socket, but only if there is a runner.
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: shortTempDir(os.TempDir())},
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, dir string) (runner.Runner, error) {
			proc.socketDir = dir
			env := environment(os.Environ(), o.Program, o.Env)
			if o.Desktop {
				env = append(env, handshake.EnvDesktop+"=1")
			}
			proc.cmd.Env = append(env, spec.Env...)
			return proc, nil
		},
		GRPCDialOptions: []grpc.DialOption{
			// Windows of a fixed size: otherwise gRPC would measure the line with a PING at every message from the hub, which is
			// useless on a local socket.
			grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connectionWindow),
		},
		SkipHostEnv:  true,                         // the function environment does it, and leaves out go-plugin's variables
		StartTimeout: o.StartTimeout + time.Second, // the timeout of ctx comes first, and names the cause
		Logger:       hclog.NewNullLogger(),        // the error of Open says the same
	})
	if _, err := c.plugin.Start(); err != nil {
		return c, err
	}
	protocol, err := c.plugin.Client() // connects, and from now on reads the hub's standard output
	if err != nil {
		return c, err
	}
	c.conn = protocol.(*goplugin.GRPCClient).Conn
	// go-plugin has connected lazily, and hides it if the certificate was refused.
	if _, err := grpc_health_v1.NewHealthClient(c.conn).Check(ctx,
		&grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName}); err != nil {
		return c, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	c.Hub = mcphubv1.NewMcpHubServiceClient(c.conn)
	c.Servers = mcphubv1.NewMcpServerServiceClient(c.conn)
	c.Editor = mcphubv1.NewEditorServiceClient(c.conn)
	c.Models = mcphubv1.NewModelToolServiceClient(c.conn)
	c.Gateways = mcphubv1.NewGatewayServiceClient(c.conn)
	c.Configs = mcphubv1.NewConfigServiceClient(c.conn)
	c.Registries = mcphubv1.NewRegistryServiceClient(c.conn)
	info, err := c.Hub.GetInfo(ctx, &mcphubv1.GetInfoRequest{})
	if err != nil {
		return c, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if version := info.GetVersion(); !handshake.Serves(version, handshake.OldestHub) {
		return c, &tooOldError{version}
	}
	return c, nil
}

var errNoAnswer = errors.New("it does not answer over gRPC")

// PID returns the process id of the hub.
func (c *Client) PID() int { return c.proc.cmd.Process.Pid }

// Conn returns the connection to the hub, for services for which Client has no field. Close closes it.
func (c *Client) Conn() *grpc.ClientConn { return c.conn }

// Done returns a channel that is closed when the hub's process has ended. Nothing else shows that reliably: the status
// code of a call that broke off does not.
func (c *Client) Done() <-chan struct{} { return c.proc.ended }

// environment returns the hub's environment, without what go-plugin adds.
func environment(own []string, program string, extra []string) []string {
	env := make([]string, 0, len(own)+len(extra)+8)
	for _, kv := range own {
		// This process may itself be a plugin, or the host of other plugins.
		if strings.HasPrefix(kv, "PLUGIN_") || strings.HasPrefix(kv, handshake.CookieKey+"=") {
			continue
		}
		env = append(env, kv)
	}
	if executable, err := os.Executable(); program == "" && err == nil {
		program = strings.TrimSuffix(filepath.Base(executable), ".exe")
	}
	env = append(env, handshake.EnvHostPID+"="+strconv.Itoa(os.Getpid()), handshake.EnvHostProgram+"="+program)
	return append(env, extra...)
}

// shortTempDir returns the parent of the socket's directory. The whole path of a socket must fit into 104 bytes (108 on
// Linux), of which go-plugin's two names take up to 42.
func shortTempDir(dir string) string {
	if len(dir) > 60 && os.PathSeparator == '/' {
		return "/tmp"
	}
	return dir
}

// contract is the plugin of the plugin set. It does nothing: the services are called by the fields of Client.
type contract struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (contract) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this side only calls")
}

func (contract) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}
