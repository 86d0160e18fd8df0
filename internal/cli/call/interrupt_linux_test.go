package call_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// sleeping starts a call that sleeps for a minute, and returns it once its first progress was shown.
func sleeping(t *testing.T, p *clitest.Program) (r *clitest.Started, record string) {
	t.Helper()
	line, record := p.DemoServer()
	r = p.Start("call", "--json", "--stdio", line, "--tool", "sleep", "--args", `{"seconds":60,"steps":600}`, "--approve",
		"allow")
	r.Stdout.Await(t, `"progress":{`)
	return r, record
}

// TestInterruptCancels_real: one Ctrl-C, or SIGTERM, cancels the call; the server is sent the cancel, and the command
// waits for the end.
func TestInterruptCancels_real(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			r, record := sleeping(t, clitest.Build(t))
			if err := r.Cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			status := r.Wait()
			c := clitest.ReadConversation(t, r.Stdout.String())
			if status != 3 || c.Failure == nil || c.Failure.Code != "CANCELLED" {
				t.Errorf("status %d, ended with %+v", status, c.Failure)
			}
			clitest.HeardCancel(t, record, "interrupted")
		})
	}
}

// TestSecondInterruptLeaves_real: on the second interrupt the command ends without waiting for a hub that does not
// answer, and kills it.
func TestSecondInterruptLeaves_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	r, _ := sleeping(t, p)
	hub := childOf(t, p, r.Cmd.Process.Pid)
	if err := syscall.Kill(hub, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, done := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	defer done()
	if err := door.Eventually(ctx, "the stop of the hub", func() (bool, error) { return stopped(hub) }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"interrupt again", "left without waiting"} {
		if err := r.Cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		r.Stderr.Await(t, want) // or the two signals might merge into one
	}
	if status := r.Wait(); status != 3 {
		t.Errorf("status %d", status)
	}
	// The hub was killed without a clean-up: its guard ends what it has left, and then exits.
	if err := door.Eventually(ctx, "the end of every process", func() (bool, error) {
		return len(p.Running(p.Binary)) == 0, nil
	}); err != nil {
		t.Error(err)
	}
}

// stopped reports whether every thread of a process has stopped: SIGSTOP takes effect on one after the other.
func stopped(pid int) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return false, err
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return false, err
		}
		// The state follows the name, which may hold anything (proc_pid_stat(5)).
		if i := bytes.LastIndexByte(text, ')'); i < 0 || !bytes.HasPrefix(text[i+1:], []byte(" T")) {
			return false, nil
		}
	}
	return true, nil
}

// TestOutputClosed_real: when the reader of the output goes away, the call is cancelled, and its processes end.
func TestOutputClosed_real(t *testing.T) {
	t.Parallel()
	r, record := sleeping(t, clitest.Build(t))
	r.Output.Close()
	if status := r.Wait(); status != 3 {
		t.Errorf("status %d\n%s", status, r.Stderr.String())
	}
	clitest.HeardCancel(t, record, "nobody reads the output any more")
}

// TestHubKilled_real: when the hub is killed during a call, the command fails with UNAVAILABLE, and the server exits.
func TestHubKilled_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	r, _ := sleeping(t, p)
	hub := childOf(t, p, r.Cmd.Process.Pid)
	server := doortest.Watch(t, childOf(t, p, hub))
	if err := syscall.Kill(hub, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	status := r.Wait()
	c := clitest.LastFailure(t, r.Stdout.String())
	if status != 6 || c == nil || c.Code != "UNAVAILABLE" {
		t.Errorf("status %d, ended with %+v\n%s", status, c, r.Stderr.String())
	}
	server.Wait(t, faketime.Long)
}

// TestHostKilled_real: when the command itself is killed, the hub and its server end within five seconds.
func TestHostKilled_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	r, _ := sleeping(t, p)
	hub := childOf(t, p, r.Cmd.Process.Pid)
	deaths := []*doortest.Death{doortest.Watch(t, hub), doortest.Watch(t, childOf(t, p, hub))}
	if err := r.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.Wait()
	for _, d := range deaths {
		d.Wait(t, faketime.Long)
	}
}

// childOf returns a process of the program whose parent is that process.
func childOf(t *testing.T, p *clitest.Program, parent int) int {
	t.Helper()
	for _, pid := range p.Running(p.Binary) {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err == nil && strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(parent)+"\n") {
			return pid
		}
	}
	t.Fatalf("process %d has no child of the program", parent)
	return 0
}
