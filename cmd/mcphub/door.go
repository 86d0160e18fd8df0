package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// hubClient is an open door.
type hubClient = host.Client

// closeTime bounds the end of a hub: draining it, with the graces of its servers, and then whatever force it takes.
const closeTime = 15 * time.Second

// hurriedCloseTime bounds it when the user has asked twice to leave.
const hurriedCloseTime = 3 * time.Second

// openHub spawns this executable as the plugin and opens its door.
func openHub(ctx context.Context, env environment) (*hubClient, error) {
	return openHubWith(ctx, env, ownStateDir())
}

// openHubWith is openHub for a hub that keeps what it remembers in another place, unless the environment names one.
func openHubWith(ctx context.Context, env environment, stateDir string) (*hubClient, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, failuref("UNAVAILABLE", "cannot find the own executable: %v", err)
	}
	options := host.Options{Command: executable}
	if _, chosen := os.LookupEnv(handshake.EnvStateDir); !chosen {
		options.Env = append(options.Env, handshake.EnvStateDir+"="+stateDir)
	}
	if os.Getenv(handshake.EnvLog) != "" {
		// Who asks for logs wants to see them; else the hub's log would stand between the lines of a person's output.
		options.Logger = slog.New(slog.NewTextHandler(env.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
		options.Stderr = env.stderr
	}
	client, err := host.Open(ctx, options)
	if err != nil {
		return nil, asFailure(err)
	}
	return client, nil
}

// ownStateDir is where the hubs of the command line keep the tokens of sign-ins, when there is no keyring: a person who
// has signed in need not do so again with each command. It is not the editors' directory: what a command line says is
// all that holds for it, and approvals that were remembered in an editor do not. (None are remembered here: this
// command's windows allow a call once.)
func ownStateDir() string {
	dir, err := plugin.StateDir()
	if err != nil {
		return "" // tokens last as long as the hub
	}
	return filepath.Join(dir, "command-line")
}

// closeHub drains the hub and ends it, within limit. It says so when force was needed.
func closeHub(env environment, client *hubClient, limit time.Duration) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errors.New("the hub took too long to end"))
	defer cancel()
	if err := client.Close(ctx); err != nil {
		env.tell("mcphub: closing the hub: %v", err)
	}
}

// loadConfig gives the hub its config and reports what is wrong with it: of servers, with the one server alone when
// only that is wanted. whole is false when a file could not be read.
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

// problemLine shows a config problem as compilers show theirs, so that editors can jump to it.
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
