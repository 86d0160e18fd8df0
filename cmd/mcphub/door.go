package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// hubClient is a client of an open hub.
type hubClient struct {
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

func newHubClient(conn *grpc.ClientConn, p hubProcess) *hubClient {
	return &hubClient{mcphubv1.NewMcpHubServiceClient(conn), mcphubv1.NewMcpServerServiceClient(conn),
		mcphubv1.NewEditorServiceClient(conn), p}
}

// spawn spawns a hub behind the plugin's door.
func spawn(ctx context.Context, o host.Options) (*hubClient, error) {
	client, err := host.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return newHubClient(client.Conn(), client), nil
}

// openInside opens a hub in this process, whose servers this executable guards.
func openInside(o hub.Options) (*plugin.Inside, error) { return plugin.OpenInside(o, "guard") }

// closeTime bounds the end of a hub: draining, the grace periods of its servers, and killing what is left.
const closeTime = 15 * time.Second

// hurriedCloseTime bounds the end of a hub if the user has interrupted twice.
const hurriedCloseTime = 3 * time.Second

// openHub spawns this executable as the plugin and connects to it.
func openHub(ctx context.Context, env environment) (*hubClient, error) {
	return openHubWith(ctx, env, stateDir("command-line"))
}

// openHubWith is openHub for a hub that keeps its state in stateDir, unless the environment names a directory.
func openHubWith(ctx context.Context, env environment, stateDir string) (*hubClient, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, failuref("UNAVAILABLE", "cannot find the own executable: %v", err)
	}
	options := host.Options{Command: executable}
	if _, chosen := os.LookupEnv(handshake.EnvStateDir); !chosen {
		options.Env = append(options.Env, handshake.EnvStateDir+"="+stateDir)
	}
	if options.Logger = askedLogger(env); options.Logger != nil {
		options.Stderr = env.stderr
	}
	client, err := env.spawn(ctx, options)
	if err != nil {
		return nil, asFailure(err)
	}
	return client, nil
}

// askedLogger returns a logger for the hub's log, nil unless logs were asked for: otherwise they would appear between
// the lines that the command prints for people.
func askedLogger(env environment) *slog.Logger {
	if os.Getenv(handshake.EnvLog) == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// stateDir returns the directory in which the hubs of a kind of command keep their state: the one that the environment
// names, or else one with this name in mcphub's. With a directory of its own, a person who has signed in need not do so
// again with each command; but what was agreed to there holds neither for other kinds of commands nor for editors. It
// is "" if there is none: then all of it lasts only as long as the hub.
func stateDir(name string) string {
	if dir, chosen := os.LookupEnv(handshake.EnvStateDir); chosen {
		return dir
	}
	dir, err := plugin.StateDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, name)
}

// closeHub drains the hub and ends it, within limit. It prints a message if the hub had to be killed.
func closeHub(env environment, client *hubClient, limit time.Duration) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the hub took too long to end"))
	defer cancel()
	if err := client.Close(ctx); err != nil {
		env.tell("mcphub: closing the hub: %v", err)
	}
}

// loadConfig gives the hub its config and prints the problems; with server, only those of this server and of the files.
// whole is false if a file could not be read.
func loadConfig(ctx context.Context, env environment, servers mcphubv1.McpServerServiceClient,
	sources []*mcphubv1.ConfigSource, server string) (whole bool, err error) {
	r, err := servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: sources})
	if err != nil {
		return false, asFailure(err)
	}
	whole = true
	for _, p := range r.GetProblems() {
		whole = whole && (!p.GetFatal() || p.GetServer() != "")
		if server == "" || p.GetServer() == "" || p.GetServer() == server {
			env.tell("%s", problemLine(p))
		}
	}
	return whole, nil
}

// problemLine returns a config problem in the format of compilers, so that editors can jump to its place.
func problemLine(p *mcphubv1.ConfigProblem) string {
	s := orDash(p.GetFile())
	if p.GetLine() > 0 {
		s += fmt.Sprintf(":%d", p.GetLine())
		if p.GetColumn() > 0 {
			s += fmt.Sprintf(":%d", p.GetColumn())
		}
	}
	kind := "warning"
	if p.GetFatal() {
		kind = "error"
	}
	s += ": " + kind
	if p.GetServer() != "" {
		s += fmt.Sprintf(": server %q", p.GetServer())
	}
	if p.GetKey() != "" {
		s += fmt.Sprintf(": key %q", p.GetKey())
	}
	return escape(s + ": " + p.GetMessage())
}
