package grants

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

func opened(dir string) *Store {
	s := Open(dir, "hub-1", slog.New(slog.DiscardHandler))
	s.Refresh(Call, Definition, Launch)
	return s
}

// callOf and launchOf are grants for one subject, in the form with that hash.
func callOf(hash string) Grant {
	return Grant{Key: CallKey("s", "launch", "tool", hash), Definition: `{"name":"tool","v":"` + hash + `"}`}
}

func launchOf(hash string) Grant {
	return Grant{Key: Key{kind: Launch, File: "/w/mcp.json", Server: "s", Hash: hash},
		fields: []formField{{Path: "form", Text: "2"}, {Path: "command", Text: `"` + hash + `"`}}}
}

// A yes holds for its scope: in this hub, in its window, where its folders are open, and in another hub.
func TestScopes(t *testing.T) {
	for _, g := range []Grant{callOf("1"), launchOf("1")} {
		for scope, want := range map[event.ApprovalScope]struct{ here, sameFolders, otherFolders, ended, other bool }{
			event.ScopeOnce:      {g.kind == Launch, g.kind == Launch, g.kind == Launch, g.kind == Launch, false},
			event.ScopeWindow:    {here: true, sameFolders: true, otherFolders: true},
			event.ScopeWorkspace: {here: true, sameFolders: true},
			event.ScopeAlways:    {true, true, true, true, true},
		} {
			dir := t.TempDir()
			s := opened(dir)
			holds := func(when string, want bool) {
				t.Helper()
				other := g.Key
				other.Hash = "2"
				if s.Holds(g.Key) != want || s.Holds(other) {
					t.Errorf("kind %d, scope %d, %s: it holds: %v; for another form: %v", g.kind, scope, when, s.Holds(g.Key),
						s.Holds(other))
				}
				if g.kind == Call && s.HoldsForAny(other) != want {
					t.Errorf("scope %d, %s: it holds for any form: %v", scope, when, !want)
				}
			}
			s.SetFolders("w", []string{"file:///b", "file:///a"})
			holds("before", false)
			s.Agree(g, scope, "w")
			s.Save()
			holds("agreed", want.here)
			s.SetFolders("w", []string{"file:///a", "file:///b"})
			holds("folders in another order", want.sameFolders)
			s.SetFolders("w", []string{"file:///a"})
			holds("other folders", want.otherFolders)
			s.EndWindow("w")
			s.SetFolders("w", nil)
			holds("another window of the name", want.ended)
			s = opened(dir)
			holds("another hub", want.other)
			s.SetFolders("x", []string{"file:///a", "file:///b"})
			holds("another hub with the folders", want.other || scope == event.ScopeWorkspace)
		}
	}
	if opened("").Holds(Key{}) {
		t.Error("an empty key holds")
	}
}

// A yes to a call lets its definition through. Without a yes the first definition that is seen is let through, unless
// another one was.
func TestDefinitionsLetThrough(t *testing.T) {
	dir := t.TempDir()
	s := opened(dir)
	first, second := callOf("1"), callOf("2")
	if s.Holds(first.As(Definition)) || s.HoldsForAny(first.As(Definition)) {
		t.Error("let through unseen")
	}
	for range 2 {
		if !s.LetThroughFirst(first.Key, "{}") {
			t.Error("the first one is not let through")
		}
	}
	if s.LetThroughFirst(second.Key, "{}") {
		t.Error("a second definition was let through as the first")
	}
	if opened(dir).LetThroughFirst(second.Key, "{}") {
		t.Error("another hub let a second definition through as the first")
	}
	if !s.Holds(first.As(Definition)) || s.Holds(second.As(Definition)) || s.Holds(first.Key) {
		t.Error("the first one is not let through, or agreed to")
	}
	s.SetFolders("w", nil)
	s.Agree(second, event.ScopeOnce, "w")
	if s.Holds(first.As(Definition)) || !s.Holds(second.As(Definition)) || s.Holds(second.Key) {
		t.Error("a yes for once does not let its definition through")
	}
}

// The next question tells what changed since the latest yes, wherever it holds.
func TestBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, of := range []func(string) Grant{callOf, launchOf} {
			s := opened("")
			want := func(k Key, hash string) {
				t.Helper()
				before, ok := s.Before(k)
				if ok != (hash != "") || ok && before.Hash != hash {
					t.Errorf("kind %d: before %q there was %q, %v; want %q", k.kind, k.Hash, before.Hash, ok, hash)
				}
			}
			s.SetFolders("w", []string{"file:///a"})
			want(of("1").Key, "")
			for i, scope := range []event.ApprovalScope{event.ScopeAlways, event.ScopeWindow, event.ScopeWorkspace} {
				time.Sleep(time.Second)
				s.Agree(of(string(rune('1'+i))), scope, "w")
			}
			want(of("4").Key, "3")
			before, _ := s.Before(of("4").Key)
			g := of("4")
			if changes := g.Changes(before); len(changes) != 1 || changes[0].Before != `"3"` || changes[0].After != `"4"` {
				t.Errorf("%+v", changes)
			}
			// Of a tool the latest yes counts, of a launch the latest to another form.
			want(of("3").Key, map[Kind]string{Call: "", Launch: "2"}[g.kind])
		}
		s := opened("")
		old := launchOf("1")
		old.fields = []formField{{Path: "command", Text: `"x"`}}
		s.Agree(old, event.ScopeAlways, "")
		if _, ok := s.Before(launchOf("2").Key); ok {
			t.Error("a form is compared with one of another version")
		}
	})
}

// The list has all that holds for longer than once, each with an id of its own that is the same in every hub, and what
// is forgotten does not come back.
func TestListAndForget(t *testing.T) {
	dir := t.TempDir()
	s := opened(dir)
	s.SetFolders("w", []string{"file:///a"})
	for _, of := range []func(string) Grant{callOf, launchOf} {
		for _, scope := range []event.ApprovalScope{event.ScopeOnce, event.ScopeWindow, event.ScopeWorkspace,
			event.ScopeAlways} {
			s.Agree(of("1"), scope, "w")
		}
	}
	s.Save()
	ids := map[string]bool{}
	for _, r := range s.List() {
		if r.Server != "s" || r.Hash != "1" || r.Time.IsZero() || (r.WindowID == "w") != (r.Scope == event.ScopeWindow) ||
			(len(r.Folders) == 1) != (r.Scope == event.ScopeWorkspace) || (r.Tool == "tool") !=
			(r.Kind == event.RememberedApproval) || r.Scope == event.ScopeOnce {
			t.Errorf("%+v", r)
		}
		ids[r.ID] = true
	}
	if len(ids) != 6 {
		t.Errorf("%d ids: %v", len(ids), ids)
	}
	next := opened(dir)
	for _, r := range next.List() {
		if !ids[r.ID] {
			t.Errorf("another hub calls it %s", r.ID)
		}
		if next.Forget(map[string]bool{r.ID: true}) != 1 || next.Forget(map[string]bool{r.ID: true}) != 0 {
			t.Errorf("%s was not forgotten once", r.ID)
		}
	}
	next.Save()
	s.Refresh(Call, Launch)
	if list := s.List(); len(list) != 2 {
		t.Errorf("%d are left, want those of the window", len(list))
	}
	if n := s.Forget(ids); n != 2 {
		t.Errorf("%d were forgotten, want those of the window", n)
	}
}

// written are the files of a hub from before this package, byte for byte.
var written = map[string]string{
	"approvals.json": `{
  "approvals": [
    {
      "server": "s",
      "launch": "launch",
      "tool": "tool",
      "definitionHash": "1",
      "scope": "always",
      "time": "2026-01-02T03:04:05Z",
      "definition": "{\"v\":1}"
    },
    {
      "server": "s",
      "launch": "launch",
      "tool": "tool",
      "definitionHash": "2",
      "scope": "workspace",
      "folders": [
        "file:///a"
      ],
      "time": "2026-01-02T03:04:06Z"
    }
  ],
  "version": 2
}
`,
	"definitions.json": `{
  "definitions": [
    {
      "server": "s",
      "launch": "launch",
      "tool": "tool",
      "definitionHash": "2",
      "time": "2026-01-02T03:04:06Z",
      "definition": "{\"v\":2}"
    }
  ],
  "version": 1
}
`,
	"launches.json": `{
  "entries": [
    {
      "file": "/w/mcp.json",
      "server": "s",
      "hash": "1",
      "form": [
        {
          "path": "form",
          "text": "2"
        },
        {
          "path": "env.A",
          "sum": "00"
        }
      ],
      "time": "2026-01-02T03:04:05Z"
    },
    {
      "file": "/w/mcp.json",
      "server": "s",
      "hash": "2",
      "folders": [
        "file:///a"
      ],
      "boundToFolders": true,
      "form": [
        {
          "path": "form",
          "text": "2"
        }
      ],
      "time": "2026-01-02T03:04:06Z"
    }
  ],
  "version": 1
}
`,
}

// Hubs of before and of now share files: what was written then means the same now, and what is written now is, byte for
// byte, what was written then.
func TestFilesAreThoseOfBefore(t *testing.T) {
	dir := t.TempDir()
	for name, text := range written {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := opened(dir)
	always, bound := []Key{callOf("1").Key, launchOf("1").Key}, []Key{callOf("2").Key, launchOf("2").Key}
	for _, open := range []bool{false, true} {
		for i := range always {
			if !s.Holds(always[i]) || s.Holds(bound[i]) != open {
				t.Errorf("kind %d, folders open: %v: %v, %v", always[i].kind, open, s.Holds(always[i]), s.Holds(bound[i]))
			}
		}
		s.SetFolders("w", []string{"file:///a"})
	}
	if !s.Holds(callOf("2").As(Definition)) || s.Holds(callOf("1").As(Definition)) {
		t.Error("another definition was let through")
	}
	var ids []string
	for _, r := range s.List() {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]string{"approval-a6867e87b187ba22e3c03fbc", "approval-b2aacba7e452d2f729f231c9",
		"launch-444dcf2145c36402", "launch-924b8fe391bb4675"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}

	again := t.TempDir()
	other := opened(again)
	s.each(func(g Grant) {
		e := entryOf(&g)
		other.lists[g.kind].Put(e)
	})
	other.Save()
	for name, want := range written {
		got, err := os.ReadFile(filepath.Join(again, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// An approval whose scope is unknown, missing, or at odds with its folders holds nowhere, and its file is set aside
// before it is replaced.
func TestUnknownScope(t *testing.T) {
	for _, scope := range []string{`"scope":"planet",`, ``, `"scope":"workspace",`,
		`"scope":"always","folders":["file:///a"],`} {
		dir := t.TempDir()
		text := `{"version":2,"approvals":[{"server":"s","launch":"launch","tool":"tool","definitionHash":"1",` + scope +
			`"time":"2026-01-02T03:04:05Z"}]}`
		if !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		if err := os.WriteFile(filepath.Join(dir, "approvals.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := opened(dir)
		s.SetFolders("w", []string{"file:///a"})
		if s.Holds(callOf("1").Key) || s.HoldsForAny(callOf("1").Key) {
			t.Errorf("%s holds", scope)
		}
		s.Agree(callOf("2"), event.ScopeAlways, "w")
		s.Save()
		asides, err := filepath.Glob(filepath.Join(dir, "approvals.json.broken-*"))
		if err != nil || len(asides) != 1 {
			t.Errorf("%s: got the copies %q (%v), want one", scope, asides, err)
		} else if kept, err := os.ReadFile(asides[0]); err != nil || string(kept) != text {
			t.Errorf("%s: the copy is %q (%v), want the whole file", scope, kept, err)
		}
	}
}
