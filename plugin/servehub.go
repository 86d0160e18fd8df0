package plugin

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/ipc"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// EnvironmentCommand is the argument with which the executable of ServeHub prints its environment: see
// process.PrintEnvironment, which gets the next argument as its mark.
const EnvironmentCommand = "__environment"

// ServeHub serves the real hub; see Serve. version is that of the binary. guard holds the arguments with which this
// executable becomes the guard of the hub's servers: it must then call transport.RunGuard. Without guard there is no
// guard, and the login shell is not asked for the user's environment, since that needs EnvironmentCommand.
func ServeHub(version string, guard ...string) int {
	return Serve(func(l *slog.Logger, fatal func(string)) (Hub, error) {
		slog.SetDefault(l) // so that log lines of libraries are written in the same format
		dir, err := stateDir(runtime.GOOS, os.LookupEnv)
		if err != nil {
			l.Warn("nothing will be remembered over restarts: no place for it", "error", err)
		}
		l.Info("serving", "version", version, "pid", os.Getpid())
		return newRealHub(hub.Options{Version: version, StateDir: dir, Logger: l, Fatal: fatal}, guard), nil
	})
}

// newRealHub returns the hub that this executable serves, with its gateways. It adds to the options what this
// executable and its environment say.
func newRealHub(o hub.Options, guard []string) realHub {
	if executable, err := os.Executable(); err == nil && len(guard) > 0 {
		o.EnvironmentCommand = []string{executable, EnvironmentCommand}
		o.GuardCommand = append([]string{executable}, guard...)
	}
	t := openTelemetry(os.LookupEnv, o.Version, o.Logger)
	o.Tracer = t.tracer()
	back, _ := returnGrace(os.LookupEnv) // serve logs a problem with it; windows get as long to come back as their host
	o.WindowReturn = max(back, 10*time.Second)
	o.Desktop = os.Getenv(handshake.EnvDesktop) == "1"
	h := hub.New(o)
	gateways := gateway.NewSet(h)
	return realHub{hub: h, ipc: ipc.Options{Logger: h.Logger(), Gateways: gateways}, gateways: gateways, telemetry: t}
}

// realHub implements the Hub of Serve: the hub with its gateways.
type realHub struct {
	hub      *hub.Hub
	ipc      ipc.Options
	gateways *gateway.Set

	telemetry *telemetry
}

func (r realHub) Register(s grpc.ServiceRegistrar)   { ipc.Register(s, r.hub, r.ipc) }
func (r realHub) ServerOptions() []grpc.ServerOption { return ipc.ServerOptions(r.ipc) }

// Close ends the gateways and the hub. Then it sends the last spans, if there is time left. It is not a failure of the
// hub if a collector does not accept them.
func (r realHub) Close(ctx context.Context) error {
	closed := make(chan struct{})
	go func() { // the clients of the gateways lose their hub when it closes, at the latest
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

// stateDir returns the folder in which the hub keeps its state: the value of MCPHUB_STATE_DIR, which may be "" for
// none, else that of the host's program in the folder that the system provides for the state of programs. The folder
// need not exist.
func stateDir(goos string, lookup func(string) (string, bool)) (string, error) {
	if dir, ok := lookup(handshake.EnvStateDir); ok {
		return dir, nil
	}
	dir, err := systemStateDir(goos, lookup)
	if program, _ := lookup(handshake.EnvHostProgram); err == nil && folderName(program) != "" {
		dir = filepath.Join(dir, "hosts", folderName(program))
	}
	return dir, err
}

// folderName returns a name that a host chose for itself as the name of a folder, "" if nothing is left of it.
func folderName(name string) string {
	name = strings.TrimLeft(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, name), ".")
	return name[:min(len(name), 64)]
}

func systemStateDir(goos string, lookup func(string) (string, bool)) (string, error) {
	if goos != "windows" && goos != "darwin" {
		// The XDG base directory specification has a directory for state as well as one for settings. It requires an
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

// StateDir returns the directory in which the hubs of this user keep their state, "" for none. It need not exist. The
// error says that the system has no place for it.
func StateDir() (string, error) {
	if dir, chosen := os.LookupEnv(handshake.EnvStateDir); chosen {
		return dir, nil
	}
	return systemStateDir(runtime.GOOS, os.LookupEnv)
}
