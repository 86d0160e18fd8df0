//go:build unix

package host_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/host"
)

// TestKillBoundedAgainstStoppedHub: a hub that was stopped with SIGSTOP never answers; Close kills it all the same, and
// returns ErrKilled. (go-plugin's own Kill would wait without end.)
func TestKillBoundedAgainstStoppedHub(t *testing.T) {
	dir := tempDir(t)
	c, err := host.Open(t.Context(), doortest.Options(t, doortest.RoleHub))
	if err != nil {
		t.Fatal(err)
	}
	hub := doortest.Watch(t, c.PID())
	if err := syscall.Kill(c.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("no patience"))
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- c.Close(ctx) }()
	select {
	case err := <-closed:
		if !errors.Is(err, host.ErrKilled) {
			t.Errorf("Close: %v, want ErrKilled", err)
		}
	case <-time.After(faketime.Long):
		t.Fatal("Close hangs")
	}
	hub.Wait(t, 0)
	waitDone(t, c)
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestCloseFromManySides: concurrent calls of Close drain the hub once, and all of them return nil.
func TestCloseFromManySides(t *testing.T) {
	logs := newRecorder()
	o := doortest.Options(t, doortest.RoleHub)
	o.Logger = slog.New(logs)
	c := doortest.Open(t, o)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := c.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
	drains := 0
	for _, m := range logs.messages() {
		if m == "fake hub drains" {
			drains++
		}
	}
	if drains != 1 {
		t.Errorf("%d drains, want 1", drains)
	}
}

// TestSocketDirRemoved: the socket is in a private directory, which is gone after every kind of end.
func TestSocketDirRemoved(t *testing.T) {
	ends := map[string]func(t *testing.T, c *host.Client){
		"closed":          func(*testing.T, *host.Client) {},
		"killed":          func(t *testing.T, c *host.Client) { _ = syscall.Kill(c.PID(), syscall.SIGKILL); waitDone(t, c) },
		"ended by itself": func(t *testing.T, c *host.Client) { _ = syscall.Kill(c.PID(), syscall.SIGTERM); waitDone(t, c) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			c := doortest.Open(t, doortest.Options(t, doortest.RoleHub))
			made := names(t, dir)
			if len(made) != 1 {
				t.Fatalf("directories: %v", made)
			}
			if info, err := os.Stat(filepath.Join(dir, made[0])); err != nil || info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("%v, %v; want a directory of mode 0700", info, err)
			}
			end(t, c)
			if err := c.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
			if left := names(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestNothingLeftOnThisSide_nightly: neither a close nor a failed opening leaves goroutines or open files in the host.
func TestNothingLeftOnThisSide_nightly(t *testing.T) {
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for range 3 {
		c, err := host.Open(t.Context(), doortest.Options(t, doortest.RoleHub))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := host.Open(t.Context(), doortest.Options(t, doortest.RoleOtherVersion)); err == nil {
			t.Fatal("Open succeeded")
		}
	}
	// Nothing signals the return of the last goroutines, some of which are gRPC's, hence the polling.
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	late := time.After(faketime.Long)
	for {
		g, f := runtime.NumGoroutine(), openFiles(t)
		if g <= goroutines && f <= files {
			return
		}
		select {
		case <-look.C:
		case <-late:
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, were %d; %d files, were %d\n%s", g, goroutines, f, files,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// openFiles counts this process's file descriptors, where the system shows them.
func openFiles(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	return len(names(t, "/proc/self/fd"))
}
