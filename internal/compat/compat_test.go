package compat

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// beforeFirst is the commit that counts as the last version as long as there is no tag.
// It is the first one with the present window stream.
const beforeFirst = "cc628bac"

// decided lists the tests of an older host that are meant to fail now, each with the decision behind it. A test that
// passes again must be removed from the list.
var decided = map[string]map[string]string{}

// older extracts the older version from the git history.
func older(t *testing.T) (version, dir string) {
	t.Helper()
	version = beforeFirst
	if tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match=v*").Output(); err == nil {
		version = strings.TrimSpace(string(tag))
	}
	dir = t.TempDir()
	archive := "cd ../.. && git archive " + version + " | tar -xf - -C \"$0\""
	if out, err := exec.Command("sh", "-c", archive, dir).CombinedOutput(); err != nil {
		t.Fatalf("the history has no %s; fetch it all (git fetch --unshallow --tags): %v\n%s", version, err, out)
	}
	return version, dir
}

func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || len(out) == 0) {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// TestOlderHost: the TypeScript host of the older version passes its own tests with this hub, except for those in
// decided.
func TestOlderHost(t *testing.T) {
	hub := doortest.Binary(t)
	version, dir := older(t)
	editors := filepath.Join(dir, "editors")
	run(t, editors, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	tap := run(t, editors, []string{doortest.BinaryVariable + "=" + hub, "NODE_OPTIONS=--test-reporter=tap"}, "npm", "test", "-w",
		"host")
	passed, failed := 0, map[string]bool{}
	for lines := bufio.NewScanner(strings.NewReader(tap)); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "not ok "); ok {
			_, name, _ := strings.Cut(rest, " - ")
			failed[name] = true
		} else if strings.HasPrefix(lines.Text(), "ok ") {
			passed++
		}
	}
	if passed == 0 {
		t.Fatalf("no test ran:\n%s", tap)
	}
	for name := range failed {
		if decided[version][name] == "" {
			t.Errorf("%q of %s fails", name, version)
		}
	}
	for name := range decided[version] {
		if !failed[name] {
			t.Errorf("%q passes: take it off the list", name)
		}
	}
	if t.Failed() {
		t.Log(tap)
	}
	t.Logf("%d tests of the host of %s pass, %d fail as decided", passed, version, len(failed))
}

// TestOlderHub: this host opens a hub of the older version that is new enough for it, and otherwise returns an error
// that says which version it needs.
func TestOlderHub(t *testing.T) {
	version, dir := older(t)
	build := func(number string) string {
		hub := filepath.Join(t.TempDir(), "mcphub")
		args := []string{"build", "-o", hub}
		if number != "" {
			args = append(args, "-ldflags=-X main.version="+number)
		}
		if out := run(t, dir, []string{"GOWORK=off"}, "go", append(args, "./cmd/mcphub")...); out != "" {
			t.Log(out)
		}
		return hub
	}
	c, err := host.Open(t.Context(), host.Options{Command: build("")})
	if err != nil {
		t.Fatalf("the hub of %s: %v", version, err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	c, err = host.Open(t.Context(), host.Options{Command: build("0.0.9")})
	if e, ok := errors.AsType[*host.OpenError](err); !ok || e.Reason != host.TooOld ||
		!strings.Contains(e.Message, "needs hub "+handshake.OldestHub+" or later") {
		t.Errorf("Open = %v, %v", c, err)
	}
}
