package hub_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/sources"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const ownFile = `{
  // mine
  "mcpServers": {}
}
`

// someProgram is the program that writes in these tests.
var someProgram = config.Writer{Name: "an extension"}

// fileWorld is a world with a config file of the user, and its path.
func fileWorld(t *testing.T, stateDir, text string) (w *world, file string) {
	t.Helper()
	w = newWorldWith(t, hub.Options{StateDir: stateDir}, serversOf("s", hanging()))
	file = filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.loadFiles(hub.ConfigSource{Path: file, Scope: "user"})
	return w, file
}

func (w *world) loadFiles(from ...hub.ConfigSource) {
	w.t.Helper()
	if _, _, _, err := w.hub.LoadConfig(w.t.Context(), from); err != nil {
		w.t.Fatal(err)
	}
}

// update changes server s.
func (w *world) update(u edit.Update) sources.Written {
	w.t.Helper()
	out, err := w.hub.Config().UpdateServer(w.t.Context(), sources.Target{Server: "s", By: someProgram}, u)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func wantRefused(t *testing.T, err error, reason, text string) {
	t.Helper()
	if e, ok := errors.AsType[*event.Error](err); !ok || e.Reason != reason || !strings.Contains(e.Message, text) {
		t.Fatalf("%v, want %s with %q", err, reason, text)
	}
}

// A tool that an entry shows, or forbids no longer, since a program changed it is not called unasked: neither because
// the entry allows it, nor because a click allowed it before. What was shown and allowed before is called as before.
// For a list that shows less nobody is asked.
func TestWhatAProgramShows(t *testing.T) {
	for name, c := range map[string]struct {
		entry, patch string
		set          edit.Settings
		narrower     bool
	}{
		"it hides another":   {entry: `"alwaysAllow":["*"],"disabledTools":["echo"]`, patch: `{"disabledTools":["x"]}`},
		"it hides none":      {entry: `"alwaysAllow":["*"],"disabledTools":["echo"]`, patch: `{"disabledTools":null}`},
		"it hides fewer":     {entry: `"alwaysAllow":["*"],"disabledTools":["e*"]`, patch: `{"disabledTools":["e*x"]}`},
		"it shows all":       {entry: `"alwaysAllow":["*"],"tools":["other"]`, patch: `{"tools":null}`},
		"it shows one more":  {entry: `"alwaysAllow":["*"],"tools":["other"]`, patch: `{"tools":["other","echo"]}`},
		"it shows a pattern": {entry: `"alwaysAllow":["*"],"tools":["other"]`, patch: `{"tools":["*"]}`},
		"a click allowed it": {entry: `"alwaysAllow":["other"],"tools":["other"]`, patch: `{"tools":["other","echo"]}`},
		"a click, then a denial": {entry: `"alwaysAllow":["other"],"approvals":{"echo":"deny"}`,
			set: edit.Settings{Approvals: map[string]config.Policy{"echo": ""}}},
		"it hides more":  {entry: `"alwaysAllow":["*"]`, patch: `{"disabledTools":["x"]}`, narrower: true},
		"it shows fewer": {entry: `"alwaysAllow":["*"]`, patch: `{"tools":["other","echo"]}`, narrower: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				entry := func(more string) string { return `{"mcpServers":{"s":{"command":"s",` + more + `}}}` }
				w, file := fileWorld(t, t.TempDir(), entry(`"alwaysAllow":["other"]`))
				w.servers["s"].Tool("other", func(c *fakeserver.CallContext) { c.Text("other") })
				v := w.user("")
				first := w.callTo("s", "echo")
				v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Scope: event.ScopeAlways})
				first.ok(t)
				if err := os.WriteFile(file, []byte(entry(c.entry)), 0o600); err != nil {
					t.Fatal(err)
				}
				w.loadFiles()
				if out := w.update(edit.Update{Patch: c.patch, Settings: c.set}); out.MustAsk == c.narrower {
					t.Errorf("%+v", out)
				}
				shown := w.callTo("s", "echo")
				if !c.narrower {
					if p := v.prompt(); p.Kind != event.PromptToolApproval || p.Approval.Tool.Name != "echo" {
						t.Errorf("%+v", p)
					}
					w.callTo("s", "other").ok(t)
					v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Scope: event.ScopeOnce})
				}
				shown.ok(t)
				if n := w.starts("s"); n != 1 {
					t.Errorf("%d starts", n)
				}
			})
		})
	}
}

// Writes that are refused for their file, their name or the moment: the file is what it was, and the error says which
// file, and what to do.
func TestWritesThatAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, file := fileWorld(t, t.TempDir(), `{"mcpServers":{"s":{"command":"s"}}}`)
		files, s := w.hub.Config(), sources.Target{Server: "s", By: someProgram}
		other := filepath.Join(t.TempDir(), "other.json")
		entry, patch := edit.Form{Entry: &edit.Entry{Command: "x"}}, edit.Update{Patch: `{"args":["1"]}`}
		add := func(to sources.Target) error {
			_, err := files.AddServer(t.Context(), to, entry, edit.Settings{})
			return err
		}
		update := func(to sources.Target) error {
			_, err := files.UpdateServer(t.Context(), to, patch)
			return err
		}
		wantRefused(t, add(s), event.ReasonServerExists, file)
		wantRefused(t, add(sources.Target{Server: "s", File: other, By: someProgram}), event.ReasonConfigFileNeeded,
			"none of the config files")
		long := sources.Target{Server: strings.Repeat("n", 100_000), By: someProgram}
		wantRefused(t, add(long), event.ReasonConfigInvalid, "at most 128 characters")
		wantRefused(t, update(long), event.ReasonServerNotFound, "no config file")
		wantRefused(t, update(sources.Target{Server: "t", By: someProgram}), event.ReasonServerNotFound, `"t"`)

		write := func(path, text string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(file, `{"mcpServers":{"s":{"command":"s","args":["theirs"]}}}`)
		wantRefused(t, update(s), event.ReasonConfigChanged, "read anew")
		if err := update(s); err != nil { // it was read anew
			t.Error(err)
		}
		write(file, `{"mcpServers":{`)
		wantRefused(t, add(sources.Target{Server: "t", File: file, By: someProgram}), event.ReasonConfigBroken, ":1: ")
		write(file, `{"mcpServers":{"s":{"command":"s"}}}`)
		write(other, `{"mcpServers":{"s":{"command":"y"}}}`)
		w.loadFiles(hub.ConfigSource{Path: file, Scope: "user"}, hub.ConfigSource{Path: other, Scope: "workspace",
			Folder: filepath.Dir(other)})
		wantRefused(t, update(s), event.ReasonConfigFileNeeded, "several files")
		s.File = other
		if err := update(s); err != nil {
			t.Error(err)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(file, other); err == nil && runtime.GOOS != "windows" { // links need a privilege there
			wantRefused(t, add(sources.Target{Server: "t", File: other, By: someProgram}), event.ReasonConfigNotWritable,
				"leads out of its workspace folder")
		}
		w.hub.Drain(t.Context(), "")
	})
}

// Without a state folder for the notes of who wrote what, nothing is written: a later hub would start it unasked.
func TestNoPlaceForNotes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, file := fileWorld(t, "", ownFile)
		_, err := w.hub.Config().AddServer(t.Context(), sources.Target{Server: "s", By: someProgram},
			edit.Form{Entry: &edit.Entry{Command: "s"}}, edit.Settings{})
		wantRefused(t, err, event.ReasonConfigNotWritable, "no directory for its own files")
		if text, _ := os.ReadFile(file); string(text) != ownFile {
			t.Errorf("%s", text)
		}
	})
}

// When the notes cannot be read, every entry needs consent, and nothing more is written.
func TestBrokenNotes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		state := t.TempDir()
		if err := os.WriteFile(filepath.Join(state, "written.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		w, _ := fileWorld(t, state, `{"mcpServers":{"s":{"command":"s"}}}`)
		if s := w.server("s"); s.LaunchConsent != event.LaunchNeeded {
			t.Errorf("%v", s.LaunchConsent)
		}
		_, err := w.hub.Config().AddServer(t.Context(), sources.Target{Server: "t", By: someProgram},
			edit.Form{Entry: &edit.Entry{Command: "t"}}, edit.Settings{})
		wantRefused(t, err, event.ReasonConfigNotWritable, "cannot note")
	})
}
