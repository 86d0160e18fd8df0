package plugin

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/ipc"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// EnvironmentCommand is the argument by which the executable of ServeHub prints its environment: see userenv.Print,
// which gets the next argument as its mark.
const EnvironmentCommand = "__environment"

// ServeHub serves the real hub; see Serve. Version is that of the binary. By the arguments in guard this executable
// becomes the guard of the hub's servers, which calls transport.RunGuard; none: there is no guard, and the login shell
// is not asked for the user's environment, which needs EnvironmentCommand.
func ServeHub(version string, guard ...string) int {
	return serve(os.Stderr, func(l *slog.Logger, fatal func(string)) (Hub, error) {
		slog.SetDefault(l) // a library's stray log line becomes one of ours
		dir, err := stateDir(runtime.GOOS, os.LookupEnv)
		if err != nil {
			l.Warn("nothing will be remembered over restarts: no place for it", "error", err)
		}
		l.Info("serving", "version", version, "pid", os.Getpid())
		return newRealHub(version, dir, guard, l, fatal), nil
	})
}

// newRealHub makes the hub that this executable serves, with its gateways.
func newRealHub(version, dir string, guard []string, l *slog.Logger, fatal func(string)) realHub {
	var environment []string
	if executable, err := os.Executable(); err == nil && len(guard) > 0 {
		environment = []string{executable, EnvironmentCommand}
		guard = append([]string{executable}, guard...)
	} else {
		guard = nil
	}
	t := openTelemetry(os.LookupEnv, version, l)
	back, _ := returnGrace(os.LookupEnv) // serve has told of a problem; the windows of a host come back with it
	h := hub.New(hub.Options{
		Version: version, StateDir: dir, Logger: l, GuardCommand: guard, Tracer: t.tracer(), Fatal: fatal,
		WindowReturn: max(back, 10*time.Second), EnvironmentCommand: environment,
		Desktop: os.Getenv(handshake.EnvDesktop) == "1", LeftFile: os.Getenv(handshake.EnvLeftFile),
	})
	gateways := gateway.NewHouse(h)
	return realHub{hub: h, ipc: ipc.Options{Logger: h.Logger(), Gateways: gateways}, gateways: gateways, telemetry: t}
}

// realHub is the hub with its gateways, as the Hub of Serve.
type realHub struct {
	hub      *hub.Hub
	ipc      ipc.Options
	gateways *gateway.House

	telemetry *telemetry
}

func (r realHub) Register(s grpc.ServiceRegistrar)   { ipc.Register(s, r.hub, r.ipc) }
func (r realHub) ServerOptions() []grpc.ServerOption { return ipc.ServerOptions(r.ipc) }

// Close ends the gateways and the hub, and then sends the spans that ended with it, if there is time left for that. A
// collector that does not take them is no failure of the hub.
func (r realHub) Close(ctx context.Context) error {
	closed := make(chan struct{})
	go func() { // whoever is served by a gateway ends with the hub at the latest
		defer close(closed)
		r.gateways.CloseAll()
	}()
	err := r.hub.Close(ctx)
	select {
	case <-closed:
	case <-ctx.Done():
	}
	r.telemetry.close(ctx)
	return err
}

// stateDir is where the hub keeps what it remembers: what MCPHUB_STATE_DIR says, which may be nowhere (""), else the
// system's place for the state of programs. It need not exist.
func stateDir(goos string, lookup func(string) (string, bool)) (string, error) {
	if dir, ok := lookup(handshake.EnvStateDir); ok {
		return dir, nil
	}
	if goos != "windows" && goos != "darwin" {
		// The XDG base directory specification has a directory for state beside the one for settings; it demands an
		// absolute path.
		if dir, ok := lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
			return filepath.Join(dir, "mcphub"), nil
		}
		if home, ok := lookup("HOME"); ok && filepath.IsAbs(home) {
			return filepath.Join(home, ".local", "state", "mcphub"), nil
		}
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "mcphub"), nil
}
