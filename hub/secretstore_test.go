package hub_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/zalando/go-keyring"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// grepDir returns a file below dir that holds text, "" for none.
func grepDir(t *testing.T, dir, text string) (found string) {
	t.Helper()
	synctest.Wait() // until nobody writes any more
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			found = path
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

// logText is a log that may be written and read at once.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// loggedWorld is inputWorld with a log.
func loggedWorld(t *testing.T, stateDir string) (*world, *logText) {
	t.Helper()
	l := &logText{}
	w := newWorldWith(t, hub.Options{StateDir: stateDir, Logger: slog.New(slog.NewTextHandler(l,
		&slog.HandlerOptions{Level: slog.LevelDebug}))}, serversOf("s", hanging()))
	w.servers["t"] = hanging()
	w.inputs(wantsKey+`,`+wantsRegion, wantsKey)
	return w, l
}

// No test reaches the real keyring: what it kept there would be found by the next test, and by the user.
//
// With the variable crashing set, the test binary is a server that exits at its start.
func TestMain(m *testing.M) {
	if os.Getenv(crashing) != "" {
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(3)
	}
	withoutKeyring()
	os.Exit(m.Run())
}

func withoutKeyring() { keyring.MockInitWithError(keyring.ErrUnsupportedPlatform) }

// withKeyring gives a test a keyring in memory and a session bus to reach it by.
func withKeyring(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	keyring.MockInit()
	t.Cleanup(withoutKeyring)
}

// Without a keyring, or with one that fails, secrets are in a file that only the user can read. The log says so once.
func TestMissingKeyring(t *testing.T) {
	for name, set := range map[string]func(){
		"no bus": func() { t.Setenv("DBUS_SESSION_BUS_ADDRESS", "") },
		"broken": func() { keyring.MockInitWithError(os.ErrPermission) },
	} {
		withKeyring(t)
		set()
		if _, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid())); name == "no bus" &&
			(err == nil || runtime.GOOS != "linux") {
			continue // there is a bus without the variable, or none is needed: a keyring would be found
		}
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			w, l := loggedWorld(t, dir)
			v := w.user("")
			c := w.echo()
			v.give("region", `"us"`)
			v.give("key", `"secret-6612"`)
			c.ok(t)
			found := grepDir(t, dir, "secret-6612")
			if info, err := os.Stat(found); err != nil || !ofUserAlone(info) {
				t.Errorf("%s: the secret is in %q: %v", name, found, err)
			}
			if n := strings.Count(l.String(), "secret inputs are not kept in the system's keyring"); n != 1 ||
				strings.Contains(l.String(), "6612") {
				t.Errorf("%s: told %d times:\n%s", name, n, l)
			}
			next, _ := loggedWorld(t, dir)
			next.echo().ok(t)
			if got := next.started()[0]; *got.Env["KEY"] != "secret-6612" {
				t.Errorf("%s: the next hub has another value", name)
			}
		})
	}
}

// A state folder that cannot be written costs what would outlive the hub, and fails no call. The log says so, once for
// each file.
func TestReadOnlyStateDir(t *testing.T) {
	withKeyring(t)
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "file") // a file in place of the folder: not even root can write below it
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w, l := loggedWorld(t, dir)
		v := w.user("")
		for range 2 {
			w.workspace(workspaceEntry)
			c := w.echo()
			v.allowLaunch(event.ScopeAlways)
			c.ok(t)
			w.workspace(workspaceEntry) // it is remembered all the same, until the hub ends
			if w.restart(v) {
				t.Error("asked again")
			}
			list := w.hub.RememberedLaunches()
			if len(list) != 1 || !w.hub.ForgetLaunch(list[0].ID) || len(w.hub.RememberedLaunches()) != 0 {
				t.Errorf("%+v", list)
			}
			w.inputs(wantsKey+`,`+wantsRegion, wantsKey)
			c = w.echo()
			v.give("region", `"us"`)
			v.give("key", `"secret-6612"`)
			c.ok(t)
			w.call(hub.CallRequest{Server: "t", Tool: "echo"}).ok(t)
			for _, r := range w.hub.RememberedInputs() {
				w.hub.ForgetInput(r.ID)
			}
		}
		for _, name := range []string{"launches.json", "inputs.json"} {
			n := 0
			for line := range strings.Lines(l.String()) {
				if strings.Contains(line, "cannot be written") && strings.Contains(line, name) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: told %d times:\n%s", name, n, l)
			}
		}
		w.nothingLeft()
	})
}
