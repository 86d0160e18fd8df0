//go:build unix

package plugin_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// rawHub is a hub that was started without plugin/host, which would clean up after it: a bare process, no TLS.
type rawHub struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	lines  chan string // standard error, line by line; closed at its end
	exited chan struct{}
}

// start starts the fake hub with the cookie and these variables on top. If stderr is not nil, it gets the standard
// error, and lines stays empty.
func start(t *testing.T, stderr *os.File, env ...string) *rawHub {
	t.Helper()
	h := &rawHub{
		cmd: doortest.Command(t, doortest.RoleHub, append([]string{handshake.CookieKey + "=" + handshake.CookieValue,
			handshake.EnvPlaintext + "=1"}, env...)...),
		lines:  make(chan string, 1000),
		exited: make(chan struct{}),
	}
	outR, outW := pipe(t)
	h.cmd.Stdout, h.cmd.Stderr, h.stdout = outW, stderr, bufio.NewReader(outR)
	if stderr == nil {
		errR, errW := pipe(t)
		h.cmd.Stderr = errW
		defer errW.Close()
		go func() {
			defer close(h.lines)
			for scanner := bufio.NewScanner(errR); scanner.Scan(); {
				h.lines <- scanner.Text()
			}
		}()
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = outW.Close()
	go func() {
		defer close(h.exited)
		_ = h.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		<-h.exited
	})
	return h
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// status waits for the end and returns the exit status.
func (h *rawHub) status(t *testing.T) int {
	t.Helper()
	select {
	case <-h.exited:
	case <-time.After(faketime.Long):
		t.Fatal("the hub did not end")
	}
	return h.cmd.ProcessState.ExitCode()
}

// exit waits for the end, and returns the exit status and what is left of standard error.
func (h *rawHub) exit(t *testing.T) (status int, stderr string) {
	t.Helper()
	status = h.status(t)
	var all strings.Builder
	for line := range h.lines {
		all.WriteString(line + "\n")
	}
	return status, all.String()
}

// logged waits for a log line with this text.
func (h *rawHub) logged(t *testing.T, text string) {
	t.Helper()
	late := time.After(faketime.Long)
	for {
		select {
		case line, ok := <-h.lines:
			if !ok {
				t.Fatalf("no line with %q", text)
			}
			if strings.Contains(line, text) {
				return
			}
		case <-late:
			t.Fatalf("no line with %q", text)
		}
	}
}

// dial reads the handshake line and connects.
func (h *rawHub) dial(t *testing.T) *grpc.ClientConn {
	t.Helper()
	line, err := h.stdout.ReadString('\n')
	parts := strings.Split(strings.TrimSpace(line), "|")
	if err != nil || len(parts) != 6 || parts[0] != "1" || parts[1] != "1" || parts[2] != "unix" || parts[4] != "grpc" {
		t.Fatalf("handshake %q, %v", line, err)
	}
	conn, err := grpc.NewClient("unix:"+parts[3], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func do(t *testing.T, conn *grpc.ClientConn, what, arguments string) string {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the fake hub does not answer"))
	defer cancel()
	answer, err := doortest.Do(ctx, mcphubv1.NewMcpHubServiceClient(conn), what, arguments)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return answer
}

func spawn(t *testing.T, conn *grpc.ClientConn) *doortest.Death {
	t.Helper()
	pid, err := strconv.Atoi(do(t, conn, "spawn", ""))
	if err != nil {
		t.Fatal(err)
	}
	return doortest.Watch(t, pid)
}

func socketDir(t *testing.T) (dir, env string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "door") // t.TempDir would be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir, handshake.EnvSocketDir + "=" + dir
}

// TestFailedStartExitsNonZero_real: go-plugin would exit 0 without a word.
func TestFailedStartExitsNonZero_real(t *testing.T) {
	tests := []struct{ name, env, want string }{
		{"socket directory that is not there", handshake.EnvSocketDir + "=/nowhere/at/all", "no connection could be served"},
		{"socket path that is too long", handshake.EnvSocketDir + "=" + longDir(t), "no connection could be served"},
		{"hub that cannot be made", doortest.NewVariable + "=the disk is full", "the disk is full"},
		{"certificate that is none", handshake.EnvClientCert + "=junk", "no certificate in PEM"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := start(t, nil, test.env)
			status, stderr := h.exit(t)
			if status != plugin.ExitFailed || !strings.Contains(stderr, "the hub did not start") ||
				!strings.Contains(stderr, test.want) {
				t.Errorf("exit status %d, want %d with %q; standard error:\n%s", status, plugin.ExitFailed, test.want, stderr)
			}
			if out, _ := io.ReadAll(h.stdout); len(out) > 0 {
				t.Errorf("it wrote a handshake: %q", out)
			}
		})
	}
}

func longDir(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWrongCookie_real: without the right cookie nothing is served, and the reason is a line that a person can read.
func TestWrongCookie_real(t *testing.T) {
	for _, cookie := range []string{"", "another program's"} {
		h := start(t, nil, handshake.CookieKey+"="+cookie)
		status, stderr := h.exit(t)
		if status != plugin.ExitFailed || !strings.Contains(stderr, handshake.CookieKey) {
			t.Errorf("cookie %q: exit status %d; standard error:\n%s", cookie, status, stderr)
		}
		if out, _ := io.ReadAll(h.stdout); len(out) > 0 {
			t.Errorf("cookie %q: it wrote %q", cookie, out)
		}
	}
}

// TestWrongVersion_real: asked for a version that it does not have, the hub offers its own and leaves it to the host to
// refuse (plugin/host does; go-plugin's own behaviour, which hosts in other languages rely on).
func TestWrongVersion_real(t *testing.T) {
	for _, asked := range []string{"9", "9,1", ""} {
		h := start(t, nil, "PLUGIN_PROTOCOL_VERSIONS="+asked)
		do(t, h.dial(t), "log", "") // dial demands version 1
	}
}

// TestPipeToDeadStderrDoesNotKill_real: the host's end of standard error is gone; the hub logs, works on, and closes in
// order.
func TestPipeToDeadStderrDoesNotKill_real(t *testing.T) {
	r, w := pipe(t)
	h := start(t, w)
	_, _ = w.Close(), r.Close()
	conn := h.dial(t)
	do(t, conn, "log", "")
	do(t, conn, "raw", "into the void") // answered after the write that could raise SIGPIPE
	child := spawn(t, conn)
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	if status := h.status(t); status != plugin.ExitOK {
		t.Errorf("exit status %d (%v)", status, h.cmd.ProcessState)
	}
	child.Wait(t, faketime.Long)
}

// TestUnreadStderrHoldsUpNothing_real: a host that stopped reading (a full pipe) gets no logs; the hub works and closes
// all the same.
func TestUnreadStderrHoldsUpNothing_real(t *testing.T) {
	_, w := pipe(t)
	h := start(t, w)
	conn := h.dial(t)
	for range 1000 { // four lines each: more than any pipe holds
		do(t, conn, "log", "")
	}
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	if status := h.status(t); status != plugin.ExitOK {
		t.Errorf("exit status %d (%v)", status, h.cmd.ProcessState)
	}
}

// TestChildrenKeepSigpipe_real: a server that pipes into head must end as it would in a shell.
func TestChildrenKeepSigpipe_real(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	h := start(t, nil)
	pid := do(t, h.dial(t), "spawn", "")
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	doortest.Watch(t, number) // kills it: the hub gets no chance to
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if mask, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			ignored, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			if err != nil || ignored&(1<<(syscall.SIGPIPE-1)) != 0 {
				t.Errorf("SIGPIPE is ignored in the child: %s%v", line, err)
			}
			return
		}
	}
	t.Error("no SigIgn in /proc")
}
