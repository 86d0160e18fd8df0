package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// curiousFile is a workspace file whose server needs consent, an input, and an approval for each tool.
func (e *estate) curiousFile() *mcphubv1.ConfigSource {
	e.t.Helper()
	return e.ofWorkspace(e.write(".vscode/mcp.json", jsonText(e.t, object{
		"inputs": []object{{"id": "key", "type": "promptString", "password": true}},
		"servers": object{"teller": object{"command": e.peer, "args": []string{"teller"},
			"env": object{"GORACE": atOnce["GORACE"], "KEY": "${input:key}"}}},
	})))
}

// settlesAll answers all prompts of one tool's call for always, and checks that this hub does not ask them again.
func (d *door) settlesAll(w *fakeeditor.Window, tool string) {
	d.t.Helper()
	c := d.call("teller", tool, `{"name":"KEY"}`)
	takes(d.t, w.AcceptFor(w.WaitPrompt(launchPrompt).GetPromptId(), forGood))
	fill(d.t, w, "key", "the-k3y")
	takes(d.t, w.AcceptFor(w.WaitPrompt(approval).GetPromptId(), forGood))
	c.text()
	d.asksNothing(w, tool)
}

// asksNothing checks that a restart of the server and a call of the tool open no prompt.
func (d *door) asksNothing(w *fakeeditor.Window, tool string) {
	d.t.Helper()
	before := questions(w)
	if _, err := d.Servers.RestartServer(d.ctx, &mcphubv1.RestartServerRequest{Server: "teller"}); err != nil {
		d.t.Fatal(err)
	}
	d.call("teller", tool, `{"name":"KEY"}`).text()
	if got := d.variable("teller", "KEY"); tool == "environment" && got.text() != "the-k3y" {
		d.t.Error("the input was lost")
	}
	if n := questions(w) - before; n != 0 {
		d.t.Errorf("%d questions were asked again", n)
	}
}

var warning = regexp.MustCompile(`level=(?:WARN|ERROR) msg=("[^"]*"|\S+).*`)

// warnsOnce checks that the log warns of something that matches, and of nothing twice.
func warnsOnce(t *testing.T, logs *book, match string) {
	t.Helper()
	told := map[string]int{}
	found := 0
	for _, m := range warning.FindAllStringSubmatch(logs.String(), -1) {
		what := m[1] + regexp.MustCompile(` file=\S+`).FindString(m[0])
		if told[what]++; told[what] == 2 {
			t.Errorf("it is told more than once: %s", m[0])
		}
		if regexp.MustCompile(match).MatchString(m[0]) {
			found++
		}
	}
	if found == 0 {
		t.Errorf("no warning says %s:\n%s", match, logs)
	}
}

// disk mounts a small disk of its own and returns its directory. It skips where a test may not do that.
func (e *estate) disk(size string) string {
	e.t.Helper()
	dir := e.file("disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		e.t.Skipf("this test needs a disk of its own, and may not mount one: %v", err)
	}
	e.t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			e.t.Error(err)
		}
	})
	return dir
}

// TestStateDirThatCannotBe: a file is where a directory should be. Answers hold until the hub ends, and the log warns
// once.
func TestStateDirThatCannotBe(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	e.state = filepath.Join(e.place.hub, "state")
	d, logs := e.hub(e.curiousFile())
	w := d.window("side bar")
	d.settlesAll(w, "environment")
	d.shut()
	warnsOnce(t, logs, "own file|kept|not kept")
}

// TestReadOnlyState: answers from before the disk became read-only still count; new ones hold until the hub ends, and
// no file is damaged.
func TestReadOnlyState(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	dir := e.disk("1m")
	e.state = filepath.Join(dir, "state")
	source := e.curiousFile()
	d, _ := e.hub(source)
	d.settlesAll(d.window("side bar"), "environment")
	d.shut()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	before := files(t, e.state)
	d, logs := e.hub(source)
	w := d.window("side bar")
	d.asksNothing(w, "environment")
	c := d.call("teller", "directory", `{}`)
	takes(t, w.AcceptFor(w.WaitPrompt(approval).GetPromptId(), forGood))
	c.text()
	d.asksNothing(w, "directory")
	d.shut()
	warnsOnce(t, logs, "read-only")
	for path, text := range files(t, e.state) {
		if before[path] != text {
			t.Errorf("%s has changed", path)
		}
	}
}

// TestFullDisk: the disk fills up between two hubs. Earlier answers still count; new ones hold in the hub, and are
// written once there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	dir := e.disk("256k")
	e.state = filepath.Join(dir, "state")
	source := e.curiousFile()
	d, _ := e.hub(source)
	d.settlesAll(d.window("side bar"), "environment")
	d.shut()

	filler := filepath.Join(dir, "filler")
	fillUp(t, filler)
	d, logs := e.hub(source)
	w := d.window("side bar")
	d.asksNothing(w, "environment")
	c := d.call("teller", "directory", `{}`)
	takes(t, w.AcceptFor(w.WaitPrompt(approval).GetPromptId(), forGood))
	c.text()
	d.asksNothing(w, "directory")
	for path, text := range files(t, e.state) {
		if strings.HasSuffix(path, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s was harmed: %.200q", path, text)
		}
	}
	if strings.Contains(files(t, e.state)[filepath.Join(e.state, "approvals.json")], `"directory"`) {
		t.Error("the disk is not full: the test proves nothing")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	c = d.call("teller", "arguments", `{}`)
	takes(t, w.AcceptFor(w.WaitPrompt(approval).GetPromptId(), forGood)) // this also writes those that waited
	c.text()
	d.shut()
	warnsOnce(t, logs, "full|no space")

	d, _ = e.hub(source)
	w = d.window("side bar")
	for _, tool := range []string{"environment", "directory", "arguments"} {
		d.asksNothing(w, tool)
	}
}

// fillUp writes until there is no room left, not for a byte.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoHome: no variable says where programs keep their state, not even HOME. The hub warns once that nothing is
// remembered over restarts, and works.
func TestNoHome(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	logs := new(book)
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the test took too long"))
	t.Cleanup(cancel)
	client, err := host.Open(ctx, host.Options{
		Command: "/usr/bin/env", Dir: e.dir, Stderr: logs, Env: []string{e.noKeyring(), handshake.EnvLog + "=debug"},
		Args: []string{"-u", "HOME", "-u", "XDG_STATE_HOME", "-u", "XDG_CONFIG_HOME", "-u", "XDG_CACHE_HOME",
			"-u", handshake.EnvStateDir, e.place.hub},
		StartTimeout: faketime.Long,
		Logger:       slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &door{Client: client, t: t, ctx: ctx}
	t.Cleanup(d.shut)
	d.loadFiles(e.curiousFile())
	w := d.window("side bar")
	d.settlesAll(w, "environment")
	d.shut()
	warnsOnce(t, logs, "remembered over restarts")
	if n := len(warning.FindAllString(logs.String(), -1)); n != 1 {
		t.Errorf("%d warnings, where one says it all:\n%s", n, logs)
	}
}

// TestBrokenStateFiles: state files that the hub cannot read are set aside, not lost; the hub works, and warns once for
// each.
func TestBrokenStateFiles(t *testing.T) {
	t.Parallel()
	const text = `{"entries":{"a":{"file":"/x","input":"key","value":"of be` // cut off
	e := newEstate(t)
	own := []string{"approvals.json", "definitions.json", "launches.json", "inputs.json"}
	if err := os.Mkdir(e.state, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(own, "tools.json") {
		if err := os.WriteFile(filepath.Join(e.state, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, logs := e.hub(e.curiousFile())
	d.settlesAll(d.window("side bar"), "environment")
	d.shut()
	warnsOnce(t, logs, "aside|could not be read")
	saved := 0
	for path, found := range files(t, e.state) {
		if found == text {
			saved++
		} else if strings.HasSuffix(path, ".json") && !json.Valid([]byte(found)) {
			t.Errorf("%s is broken: %.200q", path, found)
		}
	}
	if saved < len(own) {
		t.Errorf("of %d files that could not be read %d were kept:\n%s", len(own), saved, logs)
	}
	d, _ = e.hub(e.curiousFile())
	d.asksNothing(d.window("side bar"), "environment")
}
