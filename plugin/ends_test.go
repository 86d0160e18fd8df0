//go:build unix

package plugin_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestSigtermCloses_real: on SIGTERM and on SIGHUP the hub closes (its child is gone), removes its socket, and exits 0.
func TestSigtermCloses_real(t *testing.T) {
	hangupCountsForChildren(t)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			dir, env := socketDir(t)
			h := start(t, nil, env)
			child := spawn(t, h.dial(t))
			if err := h.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if status := h.status(t); status != plugin.ExitOK {
				t.Errorf("exit status %d", status)
			}
			child.Wait(t, faketime.Long)
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestHangupUnderNohupIsIgnored_real: a hub that was started with SIGHUP ignored goes on when the terminal closes.
func TestHangupUnderNohupIsIgnored_real(t *testing.T) {
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Ignore(syscall.SIGHUP) // children inherit it
		t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	}
	h := start(t, nil)
	conn := h.dial(t)
	do(t, conn, "log", "")
	if err := h.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	do(t, conn, "log", "") // it still serves
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// The hub logs only the first signal that ends it: had SIGHUP counted, the line would name that one.
	h.logged(t, "signal "+syscall.SIGTERM.String())
	if status := h.status(t); status != plugin.ExitOK {
		t.Errorf("exit status %d", status)
	}
}

// hangupCountsForChildren restores the default action of SIGHUP in the processes that a test starts, in case the tests
// themselves run under nohup: children inherit an ignored signal, and a hub that does rightly does not end at it.
// A signal that is caught is reset by exec.
func hangupCountsForChildren(t *testing.T) {
	t.Helper()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
}

// TestSecondSigtermExitsAtOnce_real: the second SIGTERM ends a hub whose close hangs, also with a SIGHUP in between.
func TestSecondSigtermExitsAtOnce_real(t *testing.T) {
	h := start(t, nil, doortest.CloseVariable+"="+doortest.CloseHangs)
	do(t, h.dial(t), "log", "")
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	h.logged(t, "fake hub closes")
	_ = h.cmd.Process.Signal(syscall.SIGHUP)
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	if status := h.status(t); status != plugin.ExitTerminated {
		t.Errorf("exit status %d, want %d", status, plugin.ExitTerminated)
	}
}

// TestInterruptIsSwallowed_real: Ctrl-C in a terminal signals the whole process group; the host decides what it means.
func TestInterruptIsSwallowed_real(t *testing.T) {
	h := start(t, nil)
	conn := h.dial(t)
	do(t, conn, "log", "")
	_ = h.cmd.Process.Signal(syscall.SIGINT)
	do(t, conn, "log", "")
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	if status := h.status(t); status != plugin.ExitOK {
		t.Errorf("exit status %d", status)
	}
}

// TestHangingCloseIsBounded_real: after Shutdown the process ends by itself, with an error, before a Go host would kill
// it.
func TestHangingCloseIsBounded_real(t *testing.T) {
	h := start(t, nil, doortest.CloseVariable+"="+doortest.CloseHangs)
	conn := h.dial(t)
	do(t, conn, "log", "")
	shutdown(conn)
	status, stderr := h.exit(t)
	if status != plugin.ExitFailed || !strings.Contains(stderr, "did not close in time") {
		t.Errorf("exit status %d; standard error:\n%s", status, stderr)
	}
}

// TestShutdownCloses_real: when Serve returns the hub closes, although a call still runs.
func TestShutdownCloses_real(t *testing.T) {
	h := start(t, nil)
	conn := h.dial(t)
	child := spawn(t, conn)
	var hanging sync.WaitGroup
	hanging.Go(func() { _, _ = doortest.Do(t.Context(), mcphubv1.NewMcpHubServiceClient(conn), "hang", "") })
	h.logged(t, "fake hub hangs")
	shutdown(conn)
	hanging.Wait()
	if status := h.status(t); status != plugin.ExitOK {
		t.Errorf("exit status %d", status)
	}
	child.Wait(t, faketime.Long)
}

// shutdown calls go-plugin's own Shutdown. The answer is usually lost, since the server stops before it is sent.
func shutdown(conn *grpc.ClientConn) {
	_ = conn.Invoke(context.Background(), "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
}

// TestHostKilledHubExits_real: when the host is killed with SIGKILL, the hub exits, and its children and its socket
// directory are gone.
func TestHostKilledHubExits_real(t *testing.T) {
	temp, _ := socketDir(t)
	cmd := doortest.Command(t, doortest.RoleHost, "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var hubPID, childPID int
	if _, err := fmt.Fscan(stdout, &hubPID, &childPID); err != nil {
		t.Fatalf("the host said nothing: %v", err)
	}
	hub, child := doortest.Watch(t, hubPID), doortest.Watch(t, childPID)
	if !hub.Alive(t) || !child.Alive(t) {
		t.Fatal("hub or child is dead already")
	}
	if left, _ := os.ReadDir(temp); len(left) != 1 {
		t.Fatalf("socket directories: %v", left)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	hub.Wait(t, faketime.Long) // TestOrphanWatch tells when
	child.Wait(t, 0)
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
