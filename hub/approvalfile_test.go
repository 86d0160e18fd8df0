package hub_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// logged returns a world and its log.
func logged(t *testing.T, dir string) (*world, *bytes.Buffer) {
	var log bytes.Buffer
	return newWorldWith(t, hub.Options{StateDir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))},
		serversOf("s", answers("a", "b", "c")), `s:"approvals":{"c":"allow"}`), &log
}

// endures checks that approvals hold in this hub even if they cannot be stored, and returns the warnings about them.
func endures(t *testing.T, w *world, log *bytes.Buffer) string {
	t.Helper()
	v := w.attach(hub.Hello{Kinds: allKinds, Roots: roots("file:///p")})
	w.approves(v, "a", event.ScopeAlways)
	w.approves(v, "b", event.ScopeWorkspace)
	for range 3 {
		if w.asks(v, "a") || w.asks(v, "b") || w.asks(v, "c") {
			t.Error("an approval does not hold")
		}
	}
	list := w.hub.Remembered("")
	if len(list) != 2 || w.hub.Forget([]string{list[0].ID}) != 1 || len(w.hub.Remembered("")) != 1 {
		t.Errorf("remembered %+v", list)
	}
	var again bool
	for _, tool := range []string{"a", "b"} {
		again = again != w.asks(v, tool)
	}
	if !again {
		t.Error("what was forgotten holds")
	}
	synctest.Wait()
	var warnings []string
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "WARN") && strings.Contains(line, "approvals") {
			warnings = append(warnings, line)
		}
	}
	return strings.Join(warnings, "")
}

// unwritable makes it impossible to write one of the hub's files, even for root, until mend is called: there is a
// directory in the place of the new file.
func unwritable(t *testing.T, dir, name string) (mend func()) {
	t.Helper()
	path := filepath.Join(dir, name+".new")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestApprovalsSurviveReadOnlyHome(t *testing.T) {
	t.Run("read-only", func(t *testing.T) {
		dir := t.TempDir()
		unwritable(t, dir, "approvals.json")
		synctest.Test(t, func(t *testing.T) {
			w, log := logged(t, dir)
			if warnings := endures(t, w, log); strings.Count(warnings, "\n") != 1 ||
				!strings.Contains(warnings, "cannot be written") {
				t.Errorf("the log says %q", warnings)
			}
		})
	})
	t.Run("no directory can be there", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			w, log := logged(t, filepath.Join(file, "state"))
			if warnings := endures(t, w, log); strings.Count(warnings, "cannot be written") != 1 ||
				strings.Count(warnings, "\n") > 2 {
				t.Errorf("the log says %q", warnings)
			}
		})
	})
	t.Run("unreadable", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "approvals.json"), 0o700); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			w, log := logged(t, dir)
			if warnings := endures(t, w, log); strings.Count(warnings, "cannot be written") != 1 ||
				strings.Count(warnings, "could not be read") != 1 {
				t.Errorf("the log says %q", warnings)
			}
		})
	})
}

// What could not be written to a full disk is written once there is room, except for what was forgotten meanwhile.
func TestApprovalsSurviveFullDisk(t *testing.T) {
	dir := t.TempDir()
	mend := unwritable(t, dir, "approvals.json")
	synctest.Test(t, func(t *testing.T) {
		w, log := logged(t, dir)
		if warnings := endures(t, w, log); strings.Count(warnings, "\n") != 1 {
			t.Errorf("the log says %q", warnings)
		}
		if _, err := os.Stat(filepath.Join(dir, "approvals.json")); err == nil {
			t.Error("there is a file all the same: the disk of this test is not full")
		}
		mend()
		v := w.everything()
		if len(w.hub.Remembered("")) != 1 {
			t.Errorf("remembered %+v", w.hub.Remembered(""))
		}
		w.load(`s:"approvals":{"*":"ask"}`)
		w.approves(v, "c", event.ScopeAlways)
	})
	synctest.Test(t, func(t *testing.T) {
		w, _ := logged(t, dir)
		if list := w.hub.Remembered(""); len(list) != 2 {
			t.Errorf("the next hub remembers %+v", list)
		}
		w.load(`s:"approvals":{"*":"ask"}`)
		v := w.everything()
		if w.asks(v, "c") {
			t.Error("c is not remembered")
		}
		unwritable(t, dir, "approvals.json")
		for _, r := range w.hub.Remembered("") {
			w.hub.Forget([]string{r.ID})
		}
		if !w.asks(v, "c") || len(w.hub.Remembered("")) != 0 {
			t.Error("what is forgotten holds on a full disk")
		}
	})
}

// A file that cannot be read counts as empty. It is put aside before a new one is written, so that nothing in it is
// lost. That of a newer hub stays as it is. A running hub keeps what it has read before.
func TestApprovalsSurviveCorruptFile(t *testing.T) {
	for name, text := range map[string]string{
		"half":         `{"approvals":[{`,
		"another kind": `["secrets"]`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "approvals.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				w, log := logged(t, dir)
				warnings := endures(t, w, log)
				if strings.Count(warnings, "could not be read\"") != 1 || strings.Count(warnings, "under another name") != 1 ||
					strings.Count(warnings, "\n") != 2 || strings.Contains(warnings, "secrets") {
					t.Errorf("the log says %q", warnings)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				w, _ := logged(t, dir)
				if list := w.hub.Remembered(""); len(list) != 1 {
					t.Errorf("the next hub remembers %+v", list)
				}
			})
			asides, err := filepath.Glob(filepath.Join(dir, "approvals.json.broken-*"))
			if err != nil || len(asides) != 1 {
				t.Fatalf("put aside: %v, %v", asides, err)
			}
			if kept, err := os.ReadFile(asides[0]); err != nil || string(kept) != text {
				t.Errorf("kept %q, %v", kept, err)
			}
		})
	}
	t.Run("a newer hub", func(t *testing.T) {
		const text = `{"version":99,"approvals":[],"secrets":"of the future"}`
		dir := t.TempDir()
		path := filepath.Join(dir, "approvals.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			w, log := logged(t, dir)
			warnings := endures(t, w, log)
			if !strings.Contains(warnings, "update this hub") || strings.Contains(warnings, "secrets") {
				t.Errorf("the log says %q", warnings)
			}
		})
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("the file has %q, %v", now, err)
		}
	})
	t.Run("while the hub runs", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			w, _ := logged(t, dir)
			v := w.everything()
			w.approves(v, "a", event.ScopeAlways)
			if err := os.WriteFile(filepath.Join(dir, "approvals.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			if w.asks(v, "a") {
				t.Error("what was known is forgotten")
			}
			w.approves(v, "b", event.ScopeAlways)
		})
		synctest.Test(t, func(t *testing.T) {
			if w, _ := logged(t, dir); len(w.hub.Remembered("")) != 2 {
				t.Errorf("the next hub remembers %+v", w.hub.Remembered(""))
			}
		})
	})
}

// If the files cannot be written, a change of a definition is still noticed, once, and no call fails.
func TestPinsSurviveFullDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New()
		redefine(t, s, reads)
		dir := t.TempDir()
		unwritable(t, dir, "definitions.json")
		unwritable(t, dir, "approvals.json")
		w := newWorldIn(t, dir, serversOf("s", s), "s:"+allow)
		v := w.everything()
		if w.asks(v, "a") {
			t.Error("asked at the first sight")
		}
		redefine(t, s, writes)
		if !w.asks(v, "a") || w.asks(v, "a") {
			t.Error("a change was not asked for, or twice")
		}
	})
}

// The host waits for the start of the hub. So the hub reads the approvals and the definitions of tools, which may be
// megabytes, with the first call that needs them.
func TestAnswersAreReadByTheFirstCall(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"approvals.json", "definitions.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bubble(t, func(t *testing.T) {
		w, log := logged(t, dir)
		synctest.Wait()
		if strings.Contains(log.String(), "could not be read") {
			t.Errorf("the start has read them: %s", log)
		}
		for range 2 {
			w.call(hub.CallRequest{Server: "s", Tool: "c"}).ok(t)
		}
		synctest.Wait()
		if n := strings.Count(log.String(), "could not be read\""); n != 2 {
			t.Errorf("%d of two files were read: %s", n, log)
		}
	})
}
