package process

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// Every process of one test carries the test's token, in its environment and
// mostly in its command line, too. The tests look for the token, so that they do
// not rely on the marker that they test.
const tokenVariable = "TRANSPORT_TEST_TOKEN"

func newToken() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return "token-" + hex.EncodeToString(b)
}

// tree is a server that reads nothing, with a grandchild that ignores SIGTERM and
// a great-grandchild that ignores it, too, and has a session of its own. That one
// says "ready". All of them end by themselves some time after the test.
func tree(token string) Command {
	return Command{
		Path: "/bin/sh",
		Args: []string{"-c", `(trap "" TERM; setsid sh -c 'echo ready; exec sleep 300' ` + token +
			` & exec sleep 300) & exec sleep 300`, token},
		Env: []string{"PATH=" + os.Getenv("PATH"), tokenVariable + "=" + token},
		Grace: Grace{
			Stdin: 20 * time.Millisecond, Terminate: 100 * time.Millisecond, Kill: 10 * time.Second,
		},
	}
}

// withToken returns the pids of the processes with the token that are not zombies.
func withToken(t *testing.T, token string) (pids []int) {
	t.Helper()
	names, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} { // both are empty for a zombie
			if b, err := os.ReadFile(procPath(pid, file)); err == nil && bytes.Contains(b, []byte(token)) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// noneLeft waits until several looks in a row find no process with the token.
func noneLeft(t *testing.T, token, when string) {
	t.Helper()
	deadline := time.After(faketime.Long)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for quiet := 0; quiet < 3; {
		pids := withToken(t, token)
		if quiet++; len(pids) > 0 {
			quiet = 0
		}
		select {
		case <-tick.C:
		case <-deadline:
			for _, pid := range pids {
				line, _ := os.ReadFile(procPath(pid, "cmdline"))
				stat, _ := os.ReadFile(procPath(pid, "stat"))
				t.Logf("left: %q %s", line, stat)
			}
			t.Fatalf("%s: %d processes are left", when, len(pids))
		}
	}
}

// endAll kills what a failed test has left behind.
func endAll(t *testing.T, token string) {
	t.Helper()
	t.Cleanup(func() {
		for _, pid := range withToken(t, token) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

func guardCommand() []string { return []string{os.Args[0], "guard"} }

// contained returns a Containment that is closed at the end of the test.
func contained(t *testing.T, change ...func(*ContainmentOptions)) *Containment {
	t.Helper()
	o := ContainmentOptions{GuardCommand: guardCommand()}
	for _, f := range change {
		f(&o)
	}
	c := NewContainment(o)
	t.Cleanup(c.Close)
	return c
}

// startIn starts cmd in c. At the end of the test the process is killed and its output read to the end.
func startIn(t *testing.T, c *Containment, cmd Command) *Process {
	t.Helper()
	cmd.Containment = c
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill("test is over")
		_, _ = io.Copy(io.Discard, p.Stdout())
	})
	return p
}

func guardPID(c *Containment) int {
	c.guard.mu.Lock()
	defer c.guard.mu.Unlock()
	if c.guard.guard == nil {
		return 0
	}
	return c.guard.guard.cmd.Process.Pid
}

// Mode "hub" of the child: a hub that starts servers and prints each step, for a test that kills it.
const (
	hubServers = "TRANSPORT_TEST_SERVERS"
	hubLedger  = "TRANSPORT_TEST_LEDGER"
)

func init() { moreModes["hub"] = hubChild }

func hubChild() int {
	token := os.Getenv(tokenVariable)
	n, _ := strconv.Atoi(os.Getenv(hubServers))
	c := NewContainment(ContainmentOptions{GuardCommand: guardCommand(), LedgerDir: os.Getenv(hubLedger)})
	for i := 1; i <= n; i++ {
		fmt.Println("starting", i)
		cmd := tree(token)
		cmd.Containment = c
		p, err := Start(cmd)
		if err != nil {
			fmt.Println("failed", err)
			return 90
		}
		if i == 1 {
			fmt.Println("guard", guardPID(c))
		}
		fmt.Println("started", i)
		if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
			return 90
		}
		fmt.Println("ready", i)
	}
	fmt.Println("all")
	return forever()
}

// testHub is a hub in a process of its own.
type testHub struct {
	cmd    *exec.Cmd
	out    *bufio.Reader
	stderr io.Reader
	guard  int // its pid, once the hub has printed it
}

func startHub(t *testing.T, token, ledger string, servers int) *testHub {
	t.Helper()
	endAll(t, token)
	h := &testHub{cmd: exec.Command(os.Args[0])}
	h.cmd.Env = append(Environment(os.Environ(), Own, nil), childMode+"=hub", tokenVariable+"="+token, hubLedger+"="+
		ledger, hubServers+"="+strconv.Itoa(servers))
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if h.stderr, err = h.cmd.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewReader(out)
	t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
	return h
}

// until reads what the hub prints, up to the line want.
func (h *testHub) until(t *testing.T, want string) {
	t.Helper()
	for {
		line, err := h.out.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %q: %q, %v", want, line, err)
		}
		line = strings.TrimSpace(line)
		if pid, ok := strings.CutPrefix(line, "guard "); ok {
			h.guard, _ = strconv.Atoi(pid)
		}
		if line == want {
			return
		}
	}
}

// kill is kill -9.
func (h *testHub) kill(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.cmd.Wait()
}

// Zero processes are left of twenty servers, whenever their hub is killed: before
// the first fork, between fork and the record of it, while a server starts its own
// children, and when all run. With -short at one moment of each kind.
func TestHubKilledAtTwentyMoments_real_long(t *testing.T) {
	t.Parallel()
	const servers = 20
	for moment := range 20 {
		if testing.Short() && moment%19 != 0 && moment != 4 && moment != 8 {
			continue
		}
		step := []string{"starting", "started", "ready"}[moment%3]
		when := fmt.Sprintf("%s %d", step, moment+1)
		if moment == 19 {
			when = "all"
		}
		t.Run(when, func(t *testing.T) {
			t.Parallel() // each has a hub, a guard and a token of its own, and mostly waits
			token := newToken()
			h := startHub(t, token, t.TempDir(), servers)
			h.until(t, when)
			h.kill(t)
			noneLeft(t, token, when)
			if h.guard != 0 {
				gone(t, h.guard)
			}
		})
	}
}

// The hub and the guard are both killed, so the servers run on until the next hub sweeps.
func TestSweepEndsWhatBothLeft_real(t *testing.T) {
	token, dir := newToken(), t.TempDir()
	h := startHub(t, token, dir, 3)
	h.until(t, "all")
	if err := syscall.Kill(h.guard, syscall.SIGSTOP); err != nil { // or it would act on the end of the hub
		t.Fatal(err)
	}
	h.kill(t)
	_ = syscall.Kill(h.guard, syscall.SIGKILL)
	gone(t, h.guard)
	if n := len(withToken(t, token)); n < 6 { // the parent-death signal kills the direct children only
		t.Fatalf("%d processes are left: the test shows nothing", n)
	}
	if files := ledgers(t, dir); len(files) != 1 {
		t.Fatalf("ledgers: %q", files)
	}

	contained(t, func(o *ContainmentOptions) { o.LedgerDir = dir })
	noneLeft(t, token, "after the sweep")
	if files := ledgers(t, dir); len(files) != 0 {
		t.Errorf("left: %q", files)
	}
}

func ledgers(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "processes", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A host that waits for the end of the hub's streams must not wait for the guard.
func TestHostSeesTheEndAlthoughTheGuardWorks_real(t *testing.T) {
	token := newToken()
	h := startHub(t, token, "", 2)
	h.until(t, "all")
	if err := syscall.Kill(h.guard, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(h.guard, syscall.SIGKILL) })
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{"stdout": h.out, "stderr": h.stderr} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, r)
		}()
		within(t, ended, "the end of "+name)
	}
	if !alive(h.guard) {
		t.Fatal("the guard is gone: the test shows nothing")
	}
	_ = h.cmd.Wait()
	if err := syscall.Kill(h.guard, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	noneLeft(t, token, "after the guard went on")
	gone(t, h.guard)
}

func TestGuardEndsWithTheContainment_real(t *testing.T) {
	dir := t.TempDir()
	c := contained(t, func(o *ContainmentOptions) { o.LedgerDir = dir })
	if _, err := c.Start(Command{Path: "/no/such/program"}); err == nil {
		t.Error("what is not there was started")
	}
	if guardPID(c) != 0 || len(ledgers(t, dir)) != 0 {
		t.Error("there is a guard or a ledger before the first server")
	}
	token := newToken()
	endAll(t, token)
	p := startIn(t, c, tree(token))
	ready(t, p.Stdout())
	guard := guardPID(c)
	if guard == 0 {
		t.Fatal("there is no guard")
	}
	if sid, err := unix.Getsid(guard); err != nil || sid != guard {
		t.Errorf("its session is %d, %v", sid, err)
	}
	if files := ledgers(t, dir); len(files) != 1 {
		t.Errorf("ledgers: %q", files)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(guard, s); err != nil {
			t.Fatal(err)
		}
	}
	p.Stop("enough")
	c.Close()
	if err := syscall.Kill(guard, 0); err != syscall.ESRCH { // reaped, not a zombie
		t.Errorf("the guard is there: %v", err)
	}
	if files := ledgers(t, dir); len(files) != 0 {
		t.Errorf("left: %q", files)
	}
	if _, err := c.Start(tree(token)); err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("a start after Close: %v", err)
	}
}

// Close kills the servers that nobody stopped.
func TestCloseKillsWhatRuns_real(t *testing.T) {
	c := contained(t)
	token := newToken()
	endAll(t, token)
	p := startIn(t, c, tree(token))
	ready(t, p.Stdout())
	c.Close()
	if pids := withToken(t, token); len(pids) != 0 { // no waiting: Close promises it
		t.Errorf("%v live on", pids)
	}
	if e := p.Exit(); e.Stage != StageKilled || e.Why != shutdown {
		t.Errorf("got %+v", e)
	}
}

// The second guard has to know of a server that was started under the first one.
// The server has an empty environment, so it is found by what the guard was told.
func TestLostGuardIsReplaced_real(t *testing.T) {
	var log lockedBuffer
	c := contained(t, func(o *ContainmentOptions) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	token := newToken()
	endAll(t, token)
	bare := Command{Path: "/usr/bin/env", Args: []string{"-i", "/bin/sh", "-c", "echo ready; read wait", token},
		Grace: short}
	first := startIn(t, c, bare)
	ready(t, first.Stdout())

	c.guard.mu.Lock()
	lost := c.guard.guard
	c.guard.mu.Unlock()
	if err := syscall.Kill(lost.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, lost.gone, "the end of the guard")
	if !strings.Contains(log.String(), "the guard of the server processes ended") {
		t.Errorf("log: %s", log.String())
	}
	second := startIn(t, c, bare)
	ready(t, second.Stdout())

	c.guard.mu.Lock()
	now := c.guard.guard
	if now == nil || now == lost {
		c.guard.mu.Unlock()
		t.Fatal("there is no other guard")
	}
	c.guard.drop() // as the end of the hub would do
	c.guard.mu.Unlock()
	within(t, first.Done(), "the end of the first server")
	within(t, second.Done(), "the end of the second server")
	if e := first.Exit(); e.Signal != "SIGKILL" || e.Stage != StageExited {
		t.Errorf("the first server: %+v", e)
	}
	within(t, now.gone, "the end of the second guard")
}

// If the guard cannot be started, servers start all the same, and the log has one line about it.
func TestServersStartWithoutGuard_real(t *testing.T) {
	var log lockedBuffer
	c := contained(t, func(o *ContainmentOptions) {
		o.GuardCommand = []string{filepath.Join(t.TempDir(), "none")}
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	token := newToken()
	endAll(t, token)
	for range 2 {
		ready(t, startIn(t, c, tree(token)).Stdout())
	}
	if n := strings.Count(log.String(), "no guard could be started"); n != 1 {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

// An ordinary stop also ends the processes of the server that left its process group, and no others.
func TestStopEndsWhatLeftTheGroup_real(t *testing.T) {
	t.Parallel()
	c := contained(t)
	one, other := newToken(), newToken()
	endAll(t, one)
	endAll(t, other)
	p, q := startIn(t, c, tree(one)), startIn(t, c, tree(other))
	ready(t, p.Stdout())
	ready(t, q.Stdout())
	before := withToken(t, other)
	if n := len(withToken(t, one)); n != 3 {
		t.Fatalf("%d processes", n)
	}
	e := p.Stop("enough")
	if pids := withToken(t, one); len(pids) != 0 { // no waiting: Stop promises it
		t.Errorf("%v live on", pids)
	}
	// On a busy machine the server may not come to end by itself in time.
	if e.Stage != StageTerminated && e.Stage != StageKilled || e.Group != StageKilled || e.Err != nil {
		t.Errorf("got %+v", e)
	}
	if after := withToken(t, other); !slices.Equal(before, after) {
		t.Errorf("the other server had %v, now it has %v", before, after)
	}
}

// lockedBuffer takes a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
