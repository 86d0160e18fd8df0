package hub_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// add adds server s.
func (w *world) add() sources.Written {
	w.t.Helper()
	out, err := w.hub.Config().AddServer(w.t.Context(), sources.Target{Server: "s", By: someProgram},
		edit.Form{Entry: &edit.Entry{Command: "s"}}, edit.Settings{})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
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

// seen is a yes that names the hash of the launch, as a click beside the whole command does.
func seen(p event.PromptInfo, scope event.ApprovalScope) event.PromptAnswer {
	return event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Scope: scope, LaunchHash: p.Launch.Hash}
}

// What a program wrote into a file of the user's own starts only after a person has seen all of it, in this hub and in
// the next ones. A yes without the launch's hash does not count, nor does one of the program's own window.
func TestWhatAProgramWroteAsksFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		state := t.TempDir()
		w, file := fileWorld(t, state, ownFile)
		v := w.user("")
		its, err := w.tryAttach(hub.Hello{WindowID: "its", Kinds: startKinds, ActsFor: someProgram.Name})
		if err != nil {
			t.Fatal(err)
		}
		if out := w.add(); !out.MustAsk || out.File != file || out.Line != 4 || out.Dialect != config.DialectMcpServers {
			t.Errorf("%+v", out)
		}
		if s := w.server("s"); s.LaunchConsent != event.LaunchNeeded {
			t.Errorf("after the write: %v", s.LaunchConsent)
		}
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true})
		p := v.launch()
		if p.Launch.WrittenBy != someProgram.Name || w.starts("s") != 0 {
			t.Errorf("%+v, %d starts", p.Launch, w.starts("s"))
		}
		blind := event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Scope: event.ScopeAlways}
		wantRefused(t, v.win.Answer(blind), event.ReasonConsentNotShown, "launch_hash")
		wantRefused(t, its.win.Answer(seen(p, event.ScopeAlways)), event.ReasonConsentNotShown, "a person has to")
		if v.launch(); w.starts("s") != 0 {
			t.Error("it was started")
		}
		if err := v.win.Answer(seen(p, event.ScopeOnce)); err != nil {
			t.Fatal(err)
		}
		c.ok(t)
		w.loadFiles() // as the watch does, which finds nothing to do
		if n := w.starts("s"); n != 1 {
			t.Errorf("%d starts", n)
		}

		next, _ := fileWorld(t, state, ownFile)
		next.loadFiles(hub.ConfigSource{Path: file, Scope: "user"})
		v = next.user("")
		c = next.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true})
		v.launch()
		if err := v.win.Answer(seen(v.launch(), event.ScopeAlways)); err != nil {
			t.Fatal(err)
		}
		c.ok(t)
		// The same entry in a file that a person has written by hand is theirs.
		other := filepath.Join(t.TempDir(), "other.json")
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(other, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		last, _ := fileWorld(t, state, ownFile)
		last.loadFiles(hub.ConfigSource{Path: other, Scope: "user", Folder: filepath.Dir(other)})
		if s := last.server("s"); s.LaunchConsent == event.LaunchNeeded {
			t.Errorf("in another file: %v", s.LaunchConsent)
		}
		if err := os.WriteFile(other, []byte(`{"mcpServers":{"s":{"command":"s","args":["mine"]}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		last.loadFiles()
		if s := last.server("s"); s.LaunchConsent != 0 {
			t.Errorf("written by hand: %v", s.LaunchConsent)
		}
	})
}

// A tool that a program allows is not called unasked, and what runs is not restarted for it; for timeouts and the
// switch nobody is asked.
func TestWhatAProgramAllows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, file := fileWorld(t, t.TempDir(), `{"mcpServers":{"s":{"command":"s"}}}`)
		v := w.user("")
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Scope: event.ScopeOnce})
		c.ok(t)
		set := func(s edit.Settings) sources.Written { return w.update(edit.Update{Settings: s}) }
		if out := set(edit.Settings{Timeouts: map[string]*time.Duration{"idle": new(time.Minute)}}); out.MustAsk {
			t.Errorf("for a timeout: %+v", out)
		}
		if out := set(edit.Settings{Approvals: map[string]config.Policy{"echo": config.Allow}}); !out.MustAsk {
			t.Errorf("for an approval: %+v", out)
		}
		c = w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		if p := v.prompt(); p.Kind != event.PromptToolApproval {
			t.Errorf("%+v", p)
		}
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Scope: event.ScopeOnce})
		c.ok(t)
		if n := w.starts("s"); n != 1 {
			t.Errorf("%d starts", n)
		}
		off := false
		set(edit.Settings{Enabled: &off})
		if s := w.server("s"); s.State != event.ServerDisabled {
			t.Errorf("%+v", s)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != `{"mcpServers":{"s":{"command":"s", `+
			`"timeouts": { "idle": "1m" }, "alwaysAllow": ["echo"], "disabled": true}}}` {
			t.Errorf("%s (%v)", text, err)
		}
	})
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
			bubble(t, func(t *testing.T) {
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

// A yes to an entry that a program wrote is none to the same entry that shows more.
func TestWhatAProgramShowsLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := fileWorld(t, t.TempDir(), `{"mcpServers":{}}`)
		v := w.user("")
		if _, err := w.hub.Config().AddServer(t.Context(), sources.Target{Server: "s", By: someProgram},
			edit.Form{JSON: `{"command":"s","alwaysAllow":["*"],"disabledTools":["echo"]}`}, edit.Settings{}); err != nil {
			t.Fatal(err)
		}
		hidden := w.callTo("s", "hang")
		if err := v.win.Answer(seen(v.launch(), event.ScopeAlways)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if hidden.over() {
			t.Fatal(hidden.err)
		}
		w.update(edit.Update{Patch: `{"disabledTools":null}`})
		shown := w.callTo("s", "echo")
		if p := v.prompt(); p.Kind != event.PromptToolApproval {
			t.Errorf("%+v", p)
		}
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Scope: event.ScopeOnce})
		shown.ok(t)
		if s := w.server("s"); s.LaunchConsent != event.LaunchNeeded {
			t.Errorf("consent %v", s.LaunchConsent)
		}
	})
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

// The last write can be undone, and the undo as well; what is again as a person wrote it needs no consent.
func TestUndo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		mine := `{"mcpServers":{"s":{"command":"s"} /* mine */}}`
		w, file := fileWorld(t, t.TempDir(), mine)
		files := w.hub.Config()
		_, err := files.Undo(t.Context(), "", someProgram)
		wantRefused(t, err, event.ReasonNothingToUndo, "no write")
		if _, err := files.RemoveServer(t.Context(), sources.Target{Server: "s", By: someProgram}); err != nil {
			t.Fatal(err)
		}
		if list, _ := w.hub.Servers(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
		undo := func(want string, consent event.LaunchConsent) {
			t.Helper()
			if _, err := files.Undo(t.Context(), "", someProgram); err != nil {
				t.Fatal(err)
			}
			if text, _ := os.ReadFile(file); string(text) != want {
				t.Errorf("%s", text)
			}
			list, _ := w.hub.Servers()
			if i := slices.IndexFunc(list, func(s event.ServerInfo) bool { return s.Name == "s" }); i >= 0 &&
				list[i].LaunchConsent != consent {
				t.Errorf("consent %v", list[i].LaunchConsent)
			}
		}
		undo(mine, 0)
		out, err := files.UpdateServer(t.Context(), sources.Target{Server: "s", By: someProgram},
			edit.Update{Patch: `{"args": ["1"]}`})
		if err != nil || !out.CanUndo || !out.MustAsk {
			t.Fatalf("%+v %v", out, err)
		}
		theirs, _ := os.ReadFile(file)
		undo(mine, 0)
		undo(string(theirs), event.LaunchNeeded)
		if err := os.WriteFile(file, []byte(mine+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = files.Undo(t.Context(), "", someProgram)
		wantRefused(t, err, event.ReasonConfigChanged, "has changed since")
	})
}

// An undo that names a write takes back no other one, also none that has led to the same text.
func TestUndoOfOneWrite(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := fileWorld(t, t.TempDir(), `{"mcpServers":{"s":{"command":"s"}}}`)
		files := w.hub.Config()
		write := func(enabled bool) string {
			t.Helper()
			out, err := files.UpdateServer(t.Context(), sources.Target{Server: "s", By: someProgram},
				edit.Update{Settings: edit.Settings{Enabled: &enabled}})
			if err != nil || !out.CanUndo || out.UndoID == "" {
				t.Fatalf("%+v %v", out, err)
			}
			return out.UndoID
		}
		mine := write(false)
		write(true)
		write(false)
		for _, id := range []string{mine, "never-written"} {
			_, err := files.Undo(t.Context(), id, someProgram)
			wantRefused(t, err, event.ReasonNothingToUndo, "only the last one can, which is of server \"s\"")
		}
		mine = write(true)
		out, err := files.Undo(t.Context(), mine, someProgram)
		if err != nil || out.UndoID == mine {
			t.Fatalf("%+v %v", out, err)
		}
		if _, err = files.Undo(t.Context(), out.UndoID, someProgram); err != nil {
			t.Error(err)
		}
		if s := w.server("s"); s.State != event.ServerStopped {
			t.Errorf("%v", s.State)
		}
	})
}
