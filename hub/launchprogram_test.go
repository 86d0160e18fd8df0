package hub_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// folderWorld is a world whose server s comes from the config of a workspace folder on the disk.
type folderWorld struct {
	*world
	folder string
}

func newFolderWorld(t *testing.T, stateDir string) *folderWorld {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("programs are made of scripts and links here")
	}
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &folderWorld{newWorldWith(t, hub.Options{StateDir: stateDir,
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=/config"}}, programs()), folder}
}

// programs returns a server for each command of these tests.
func programs() map[string]*fakeserver.Server {
	all := map[string]*fakeserver.Server{}
	for _, command := range []string{"s", "node", "./tool", "./bin/s"} {
		all[command] = hanging()
	}
	return all
}

// write writes an executable file in the folder, and returns its path.
func (w *folderWorld) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// link makes name a symbolic link to target.
func (w *folderWorld) link(target, name string) {
	w.t.Helper()
	path := filepath.Join(w.folder, name)
	_ = os.Remove(path)
	if err := os.Symlink(target, path); err != nil {
		w.t.Fatal(err)
	}
}

func (w *folderWorld) as(scope, entry string) {
	w.t.Helper()
	w.source(hub.ConfigSource{Path: filepath.Join(w.folder, ".vscode", "mcp.json"), Scope: scope, Folder: w.folder,
		JSON: `{"servers":{"s":` + entry + `}}`})
}

// restart stops s, so that the next call starts it.
func (w *folderWorld) restart() {
	w.t.Helper()
	if _, err := w.hub.StopServer(context.Background(), "s", ""); err != nil {
		w.t.Fatal(err)
	}
}

// Finding C1: a program in the folder that is found by the entry's own PATH is shown by its absolute path, with the
// variables that load code into it. That file is started.
func TestLaunchShowsTheProgramThatRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newFolderWorld(t, "")
		evil := w.write("bin/node", "#!/bin/sh\n")
		w.as("workspace",
			`{"command":"node","args":["server.js"],"env":{"PATH":"${workspaceFolder}/bin:/usr/bin","BASH_ENV":"./x","MODE":"plain","GONE":null},`+allow+`}`)
		v := w.user("")
		c := w.echo()
		q := v.launch().Launch
		want := []event.LaunchVariable{
			{Name: "BASH_ENV", Value: "./x", LoadsCode: true}, {Name: "GONE", Unset: true}, {Name: "MODE", Value: "plain"},
			{Name: "PATH", Value: w.folder + "/bin:/usr/bin", LoadsCode: true},
		}
		if diff := cmp.Diff(want, q.Env); diff != "" || q.Program != evil || q.ProgramTarget != "" || q.Unresolved != "" ||
			q.Command != "node" {
			t.Errorf("the question is %+v; its variables (-want +got):\n%s", q, diff)
		}
		v.allowLaunch(event.ScopeOnce)
		c.ok(t)
		if got := w.started(); len(got) != 1 || got[0].Program != evil || got[0].Command != "node" {
			t.Errorf("started %+v", got)
		}
	})
}

// Finding C1: a link is shown with its target, and consent covers that target only.
func TestAnotherProgramAsksAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newFolderWorld(t, t.TempDir())
		good, evil := w.write("good", "#!/bin/sh\n"), w.write("evil", "#!/bin/sh\n")
		w.link(good, "tool")
		w.as("workspace", `{"command":"./tool",`+allow+`}`)
		v := w.user("")
		c := w.echo()
		if q := v.launch().Launch; q.Program != w.folder+"/tool" || q.ProgramTarget != good {
			t.Errorf("the question is %+v", q)
		}
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)

		w.link(evil, "tool")
		w.restart()
		c = w.echo()
		q := v.launch().Launch
		changes := []event.DefinitionChange{{Path: "program", Before: `"` + good + `"`, After: `"` + evil + `"`}}
		if diff := cmp.Diff(changes, q.Changes); diff != "" || !q.Changed || q.ProgramTarget != evil {
			t.Errorf("the question is %+v; its changes (-want +got):\n%s", q, diff)
		}
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)

		w.link(good, "tool") // there is consent to this target
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Error(err)
		}
		w.echo().ok(t)
		if got := w.started(); len(got) != 2 {
			t.Errorf("%d starts", len(got))
		}
	})
}

// Finding C1: if the program changes while the question is open, the Yes covers what was shown, and the new program is
// asked about.
func TestProgramChangesUnderTheQuestion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newFolderWorld(t, "")
		good, evil := w.write("good", "#!/bin/sh\n"), w.write("evil", "#!/bin/sh\n")
		w.link(good, "tool")
		w.as("workspace", `{"command":"./tool",`+allow+`}`)
		v := w.user("")
		c := w.echo()
		p := v.launch()
		w.link(evil, "tool")
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Scope: event.ScopeAlways})
		if q := v.launch(); q.ID == p.ID || q.Launch.ProgramTarget != evil {
			t.Errorf("the question is %+v", q.Launch)
		}
		if got := w.started(); len(got) != 0 {
			t.Errorf("started %+v", got)
		}
		v.answer(event.PromptAnswer{PromptID: v.launch().ID, Action: event.ActionDecline})
		c.want(t, event.CodeFailedPrecondition, event.ReasonLaunchDeclined)
	})
}

// Finding C1: if the user's PATH finds the program, its path may change as long as the target is the same.
func TestSameProgramByAnotherPathAsksNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := newFolderWorld(t, dir)
		program := w.write("versions/22/node", "#!/bin/sh\n")
		run := func(shell string) *folderWorld {
			w.write(shell+"/keep", "")
			w.link(program, shell+"/node")
			n := &folderWorld{newWorldWith(t, hub.Options{StateDir: dir, Environ: []string{"PATH=" + w.folder + "/" + shell}},
				programs()), w.folder}
			n.as("workspace", `{"command":"node",`+allow+`}`)
			return n
		}
		one := run("shell1")
		v := one.user("")
		c := one.echo()
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		two := run("shell2")
		two.echo().ok(t)
		if got := two.started(); len(got) != 1 || got[0].Program != w.folder+"/shell2/node" {
			t.Errorf("started %+v", got)
		}
	})
}

// Finding C2: consent covers the content of an envFile. Its values are neither shown nor kept. The sums that are kept
// are those of one user: nobody can find a value by trying.
func TestEnvFileIsPartOfTheConsent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		w := newFolderWorld(t, dir)
		w.write(".env", "PIN=4711-secret\nREGION=eu\n")
		w.write("bin/s", "#!/bin/sh\n")
		w.as("workspace", `{"command":"./bin/s","envFile":"${workspaceFolder}/.env",`+allow+`}`)
		v := w.user("")
		c := w.echo()
		q := v.launch().Launch
		if diff := cmp.Diff([]string{"PIN", "REGION"}, q.EnvFileNames); diff != "" {
			t.Error(diff)
		}
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		w.restart()
		w.echo().ok(t) // the same content

		w.write(".env", "PIN=4712-secret\nREGION=eu\n")
		w.restart()
		c = w.echo()
		q = v.launch().Launch
		changes := []event.DefinitionChange{{Path: "content of envFile", Before: `"(a value)"`, After: `"(another value)"`}}
		if diff := cmp.Diff(changes, q.Changes); diff != "" || !q.Changed {
			t.Errorf("changed %v\n%s", q.Changed, diff)
		}
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		if got := w.started(); len(got) != 3 || *got[2].Env["PIN"] != "4712-secret" {
			t.Errorf("%d starts", len(got))
		}
		shown, err := json.Marshal(eventsOf[*event.PromptOpened](v))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(dir, "launches.json"))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(shown) + string(kept); strings.Contains(text, "secret") {
			t.Errorf("a value is shown or kept: %s", text)
		}

		others := t.TempDir()
		n := &folderWorld{newWorldWith(t, hub.Options{StateDir: others, Environ: []string{"PATH=/usr/bin:/bin",
			"HOME=/config"}}, programs()), w.folder}
		n.as("workspace", `{"command":"./bin/s","envFile":"${workspaceFolder}/.env",`+allow+`}`)
		v = n.user("")
		c = n.echo()
		v.allowLaunch(event.ScopeAlways)
		c.ok(t)
		keptByOther, err := os.ReadFile(filepath.Join(others, "launches.json"))
		if err != nil {
			t.Fatal(err)
		}
		sums := regexp.MustCompile("[0-9a-f]{16,}").FindAllString(string(kept), -1)
		for _, sum := range sums {
			if strings.Contains(string(keptByOther), sum) {
				t.Errorf("two users keep the same sum %s: %s", sum, kept)
			}
		}
		if len(sums) == 0 {
			t.Errorf("no sum is kept: %s", kept)
		}
	})
}

// Finding C2: a variable that loads code is refused in the envFile of a workspace, since nobody would see it there, and
// no question is asked. In the user's own files it is allowed.
func TestEnvFileMustNotLoadCode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newFolderWorld(t, "")
		w.write("bin/s", "#!/bin/sh\n")
		w.write(".env", "TOKEN=x\nNODE_OPTIONS=--require ./evil.js\n")
		entry := `{"command":"./bin/s","cwd":"${workspaceFolder}","envFile":"${workspaceFolder}/.env",` + allow + `}`
		w.as("workspace", entry)
		v := w.user("")
		e := w.echo().want(t, event.CodeFailedPrecondition, event.ReasonServerBroken)
		if !strings.Contains(e.Message, "NODE_OPTIONS") || strings.Contains(e.Message, "evil.js") {
			t.Errorf("the error is %s", e.Message)
		}
		v.noPrompt()
		if got := w.started(); len(got) != 0 {
			t.Errorf("started %+v", got)
		}
		w.as("user", entry)
		w.echo().ok(t)
	})
}

// Finding A13: the forms of entries, whose cost a stranger chooses, are made without the hub's lock.
func TestFormsAreMadeWithoutTheLock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, nil)
		forms, locked := w.hub.CountForms()
		text := `{"servers":{` + manyEntries(200, `{"command":"s","env":{"A":"b"},"dev":{"watch":["x"]}}`) + `}}`
		source := hub.ConfigSource{Path: workspaceFile, Scope: "workspace", Folder: "/repos/site", JSON: text}
		if _, _, _, err := w.hub.LoadConfig(context.Background(), []hub.ConfigSource{source}); err != nil {
			t.Fatal(err)
		}
		v := w.user("", "file:///repos/site")
		v.win.SetRoots([]hub.Root{{URI: "file:///repos/other"}})
		w.user("another", "file:///repos/site").win.Detach(true)
		w.hub.Servers()
		if forms.Load() != 200 || locked.Load() != 0 {
			t.Errorf("%d forms, %d of them with the lock held", forms.Load(), locked.Load())
		}
	})
}
