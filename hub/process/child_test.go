//go:build unix

package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// The test binary plays the child, too: childMode says which one.
const childMode = "TRANSPORT_TEST_CHILD"

// moreModes are the children that only some systems have.
var moreModes = map[string]func() int{}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "guard" { // a guard has no environment
		os.Exit(RunGuard(os.Stdin))
	}
	if len(os.Args) == 3 && os.Args[1] == printCommand { // a login shell runs it
		if err := PrintEnvironment(os.Stdout, os.Args[2], os.Environ()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(child(mode))
	}
	os.Exit(m.Run())
}

// child prints "ready" (with the pid of a grandchild, where there is one) once
// its signal handlers are in place, and then behaves as its mode says.
func child(mode string) int {
	ready := func(args ...any) { fmt.Println(append([]any{"ready"}, args...)...) }
	grandchild := func(mode string, adapt func(*exec.Cmd)) (int, bool) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childMode+"="+mode)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return 0, false
		}
		if adapt != nil {
			adapt(cmd)
		}
		if err := cmd.Start(); err != nil {
			return 0, false
		}
		_, err = bufio.NewReader(out).ReadString('\n') // it is ready
		return cmd.Process.Pid, err == nil
	}
	switch mode {
	case "exit-on-eof":
		ready()
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "ignore-eof":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		ready()
		<-term
		return 7
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		ready()
		return forever()
	case "deaf":
		ready()
		return forever()
	case "spawn-grandchild", "spawn-grandchild-and-exit", "spawn-daemon":
		adapt := func(*exec.Cmd) {}
		if mode == "spawn-daemon" { // it leaves the group and keeps stdout and stderr
			adapt = func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
		}
		pid, ok := grandchild("holder", adapt)
		if !ok {
			return 90
		}
		ready(pid)
		if mode == "spawn-grandchild-and-exit" {
			return 0
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "holder": // holds stderr, and ignores SIGTERM
		signal.Ignore(syscall.SIGTERM)
		ready()
		return forever()
	case "stdout-holder": // its parent passes its own stdout on to it
		pid := os.Getpid()
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready", pid)
		return forever()
	case "spawn-stdout-daemon":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childMode+"=stdout-holder")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return 90
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Println("last words")
		return 0
	case "stderr-flood":
		w := bufio.NewWriter(os.Stderr)
		fmt.Fprintf(w, "%s\n", strings.Repeat("ä", maxStderrLine))
		for i := range 20000 {
			fmt.Fprintf(w, "line %d\r\n", i)
		}
		fmt.Fprint(w, "no newline\xff at the end")
		_ = w.Flush()
		return 0
	case "exit-code-3":
		return 3
	case "kill-itself":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return forever()
	case "print-env":
		env := os.Environ()
		slices.Sort(env)
		fmt.Println(strings.Join(env, "\n"))
		return 0
	case "burst-and-exit": // as much as a pipe holds, then the end
		_, _ = os.Stdout.WriteString(strings.Repeat("x", 60<<10))
		return 0
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return 0
	}
	if f := moreModes[mode]; f != nil {
		return f()
	}
	return 91
}

// forever outlasts every test, but ends by itself, should a test leave the process behind.
func forever() int {
	<-time.After(10 * time.Minute)
	return 92
}

var short = Grace{Stdin: 100 * time.Millisecond, Terminate: 100 * time.Millisecond, Kill: 5 * time.Second}

// generous graces show that a stage ended early because the child did.
var generous = Grace{Stdin: time.Minute, Terminate: time.Minute, Kill: time.Minute}

func start(t *testing.T, mode string, change ...func(*Command)) *Process {
	t.Helper()
	c := Command{
		Path: os.Args[0],
		// Under -race every exit would take a second, under -cover it would warn.
		Env: append(Environment(os.Environ(), Own, nil), childMode+"="+mode, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR="+
			t.TempDir()),
		Dir:   t.TempDir(),
		Grace: short,
	}
	if !filepath.IsAbs(c.Path) {
		t.Fatalf("test binary has a relative path %q", c.Path)
	}
	for _, f := range change {
		f(&c)
	}
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill("test is over")
		_, _ = io.Copy(io.Discard, p.Stdout()) // the end of it closes the file
	})
	return p
}

func withGrace(g Grace) func(*Command) { return func(c *Command) { c.Grace = g } }

// ready waits until the child says so, and returns the pid that it adds, or 0.
func ready(t *testing.T, r io.Reader) int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	fields := strings.Fields(line)
	if err != nil || len(fields) == 0 || fields[0] != "ready" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	if len(fields) == 1 {
		return 0
	}
	pid, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether a process exists and is more than a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(out) > 0 && out[0] != 'Z'
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.After(faketime.Long)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("process %d lives on", pid)
		}
	}
}

// within waits until ch is closed.
func within[T any](t *testing.T, ch <-chan T, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(faketime.Long):
		t.Fatal("still waiting: " + what)
	}
}
