//go:build unix

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// longWord is an argument that a launch prompt must show whole.
var longWord = "--long=" + strings.Repeat("0123456789", 2000) + "--the-end"

// tellerFile writes a workspace's .vscode/mcp.json with one server, and returns its source. The file has a comment and
// trailing commas, as those of people do.
func (e *estate) tellerFile(args ...string) *mcphubv1.ConfigSource {
	e.t.Helper()
	e.write(".env", "FROM_FILE=of the file\n")
	entry := object{
		"type": "stdio", "command": e.peer, "args": append([]string{"teller"}, args...), "cwd": "${workspaceFolder}",
		"env":       object{"GORACE": atOnce["GORACE"], "MODE": "plain", "TOKEN": "${env:E2E_TOKEN}", "UNSET": nil},
		"envFile":   "${workspaceFolder}/.env",
		"approvals": allowAll,
	}
	return e.ofWorkspace(e.write(".vscode/mcp.json", "{\n\t// what this project needs\n\t\"servers\": {\n\t\t\"teller\": "+
		jsonText(e.t, entry)+",\n\t},\n}\n"))
}

// TestLaunchPromptShowsEverything: the launch prompts for a process and for an address of a workspace file show every
// field, whole, and no value that may be secret.
func TestLaunchPromptShowsEverything(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	local := e.tellerFile("${workspaceFolder}/x", "", "two words", longWord)
	remote := e.ofWorkspace(e.write("more/.vscode/mcp.json", jsonText(t, object{"servers": object{"far": object{
		"type": "http", "url": "http://127.0.0.1:9/mcp?key=${env:E2E_TOKEN}",
		"headers":   object{"X-Key": "${env:E2E_OTHER}", "Accept-Language": "de"},
		"approvals": object{"read_*": "allow", "write_*": "deny"},
	}}})))
	d, _ := e.hubWith([]string{"E2E_TOKEN=s3cr3t-value", "E2E_OTHER=0ther-value"}, local, remote)
	w := d.window("side bar")
	if got := w.Server("teller"); got.GetLaunchConsent() != mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED ||
		got.GetConfigDialect() != "vscode" || got.GetConfigScope() != "workspace" {
		t.Errorf("before anything is asked: %v", got)
	}
	c := d.call("teller", "arguments", `{}`)
	p := w.WaitPrompt(launchPrompt)
	want := &mcphubv1.ServerLaunch{
		Command: e.peer, Args: []string{"teller", e.folder + "/x", "", "two words", longWord}, Directory: e.folder,
		EnvironmentNames: []string{"GORACE", "MODE", "TOKEN", "UNSET"}, EnvironmentReferences: []string{"E2E_TOKEN"},
		EnvFile:         e.folder + "/.env",
		ResolvedCommand: e.peer, EnvFileNames: []string{"FROM_FILE"}, Environment: []*mcphubv1.LaunchVariable{
			{Name: "GORACE", Value: atOnce["GORACE"]}, {Name: "MODE", Value: "plain"},
			{Name: "TOKEN", Value: "${env:E2E_TOKEN}"}, {Name: "UNSET", Unset: true},
		},
		AllowedTools: []string{"*"}, ConfigFile: local.Path, ConfigLine: 4,
	}
	// What is inherited depends on the machine; TestLaunchShowsWhatIsInherited in hub checks it.
	unhashed := protocmp.IgnoreFields(&mcphubv1.ServerLaunch{}, "launch_hash", "inherited_names")
	if diff := cmp.Diff(want, p.GetServerLaunch(), protocmp.Transform(), unhashed); diff != "" ||
		p.GetServer() != "teller" || len(p.GetServerLaunch().GetLaunchHash()) < 32 {
		t.Errorf("the question about the process (-want +got):\n%.3000s", diff)
	}
	if asking := d.server("teller").GetLaunchConsent(); asking != mcphubv1.LaunchConsent_LAUNCH_CONSENT_ASKING {
		t.Errorf("while it is asked: %v", asking)
	}
	takes(t, w.AcceptFor(p.GetPromptId(), once))
	if got, want := c.text(), strings.Join([]string{e.folder + "/x", "", "two words", longWord}, "\n"); got != want {
		t.Errorf("what was shown is not what was started: %.300s", got)
	}
	if got := d.call("teller", "environment", `{"name":"FROM_FILE"}`).text() + ", " +
		d.call("teller", "environment", `{"name":"TOKEN"}`).text(); got != "of the file, s3cr3t-value" {
		t.Errorf("the server was started with %q", got)
	}
	if got := d.call("teller", "directory", `{}`).text(); got != e.folder {
		t.Errorf("it runs in %s", got)
	}

	far := d.call("far", "read_it", `{}`)
	p = w.WaitPrompt(launchPrompt)
	want = &mcphubv1.ServerLaunch{
		Url: "http://127.0.0.1:9/mcp?key=${env:E2E_TOKEN}", HeaderNames: []string{"Accept-Language", "X-Key"},
		EnvironmentReferences: []string{"E2E_OTHER", "E2E_TOKEN"},
		AllowedTools:          []string{"read_*"}, ConfigFile: remote.Path, ConfigLine: 1,
	}
	if diff := cmp.Diff(want, p.GetServerLaunch(), protocmp.Transform(), unhashed); diff != "" {
		t.Errorf("the question about the address (-want +got):\n%s", diff)
	}
	takes(t, w.Decline(p.GetPromptId(), "not that one"))
	far.fails("FAILED_PRECONDITION", "LAUNCH_DECLINED")
	for _, event := range w.Events() {
		if text := asText(t, event); strings.Contains(text, "s3cr3t-value") || strings.Contains(text, "0ther-value") {
			t.Errorf("a value was shown: %s", text)
		}
	}
}

// TestLaunchConsentOutlivesTheHub: a consent for always outlives the hub, for this entry of this file; one for once
// ends with the hub.
func TestLaunchConsentOutlivesTheHub(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	for i, scope := range []mcphubv1.ApprovalScope{once, forGood, forGood} {
		source := e.tellerFile("same")
		d, _ := e.hub(source)
		w := d.window("side bar")
		c := d.call("teller", "directory", `{}`)
		if i < 2 {
			takes(t, w.AcceptFor(w.WaitPrompt(launchPrompt).GetPromptId(), scope))
		}
		if got := c.text(); got != e.folder {
			t.Errorf("it runs in %s", got)
		}
		if i == 2 && opened(w, launchPrompt) != 0 {
			t.Error("the user was asked again")
		}
		if got := d.server("teller").GetLaunchConsent(); got != mcphubv1.LaunchConsent_LAUNCH_CONSENT_GIVEN {
			t.Errorf("hub %d: %v", i, got)
		}
		d.shut()
	}
	// The same entry in another file needs a consent of its own, and so does the same file for another folder.
	other := e.ofWorkspace(e.write("fork/.vscode/mcp.json", e.read(".vscode/mcp.json")))
	elsewhere := e.tellerFile("same")
	elsewhere.Folder = filepath.Join(e.folder, "fork")
	e.write("fork/.env", e.read(".env"))
	for _, source := range []*mcphubv1.ConfigSource{other, elsewhere} {
		d, _ := e.hub(source)
		w := d.window("side bar")
		if got := d.server("teller").GetLaunchConsent(); got != mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED {
			t.Fatalf("%s for %s: %v", source.Path, source.Folder, got)
		}
		c := d.call("teller", "directory", `{}`)
		p := w.WaitPrompt(launchPrompt)
		if p.GetServerLaunch().GetChanged() != (source == elsewhere) {
			t.Errorf("%s: changed %v: %v", source.Folder, p.GetServerLaunch().GetChanged(), p.GetServerLaunch().GetChanges())
		}
		takes(t, w.Dismiss(p.GetPromptId()))
		c.fails("FAILED_PRECONDITION", "LAUNCH_DECLINED")
		d.shut()
	}
}

func (e *estate) read(name string) string {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.folder, name))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

// TestLaunchAskedAgainAfterAnEdit: the file is edited on the disk while a call runs, which fails; the next prompt shows
// what has changed. After a decline the server stays stopped; when the file is changed back, the first consent holds.
func TestLaunchAskedAgainAfterAnEdit(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	pid := e.file("pid")
	d, _ := e.hub(e.tellerFile("--pid", pid, "one", "two"))
	w := d.window("side bar")
	c := d.call("teller", "hang", `{}`)
	first := w.WaitPrompt(launchPrompt)
	takes(t, w.AcceptFor(first.GetPromptId(), forGood))
	w.WaitRequest(c.id, running)
	before := familyOf(t, pid)

	path := e.tellerFile("--pid", pid, "one", "--evil").Path
	w.WaitEvent("the reload", func(r *mcphubv1.AttachResponse) bool {
		return r.GetConfigReloaded().GetChangedFile() == path
	})
	f := failure(t, c)
	if f.Code != "CANCELLED" && f.Code != "UNAVAILABLE" {
		t.Errorf("the running call ended with %+v", f)
	}
	next := d.call("teller", "arguments", `{}`)
	p := w.WaitPrompt(launchPrompt)
	want := []*mcphubv1.DefinitionChange{{Path: "args[4]", BeforeJson: `"two"`, AfterJson: `"--evil"`}}
	if l := p.GetServerLaunch(); !l.GetChanged() || l.GetLaunchHash() == first.GetServerLaunch().GetLaunchHash() ||
		l.GetArgs()[4] != "--evil" {
		t.Errorf("the second question: %v", l)
	} else if diff := cmp.Diff(want, l.GetChanges(), protocmp.Transform()); diff != "" {
		t.Errorf("what has changed (-want +got):\n%s", diff)
	}
	takes(t, w.Decline(p.GetPromptId(), "no"))
	next.fails("FAILED_PRECONDITION", "LAUNCH_DECLINED")
	d.call("teller", "arguments", `{}`).fails("FAILED_PRECONDITION", "LAUNCH_DECLINED") // without another question
	if n := opened(w, launchPrompt); n != 2 {
		t.Errorf("the user was asked %d times", n)
	}
	if s := d.server("teller"); s.GetLaunchConsent() != mcphubv1.LaunchConsent_LAUNCH_CONSENT_DECLINED ||
		s.GetProcessId() != 0 {
		t.Errorf("after the no: %v", s)
	}
	if after := familyOf(t, pid); after != before {
		t.Errorf("process %v was started without consent, after %v", after, before)
	}

	// StartServer asks again.
	again := make(chan error, 1)
	go func() {
		_, err := d.Servers.StartServer(d.ctx, &mcphubv1.StartServerRequest{Server: "teller"})
		again <- err
	}()
	takes(t, w.AcceptFor(w.WaitPrompt(launchPrompt).GetPromptId(), once))
	if err := <-again; err != nil {
		t.Fatal(err)
	}
	if got := d.call("teller", "arguments", `{}`).text(); !strings.HasSuffix(got, "--evil") {
		t.Errorf("it was started with %s", got)
	}

	// Back to the form that was accepted for always.
	e.tellerFile("--pid", pid, "one", "two")
	until(t, "the file is read again", func() bool {
		return strings.HasSuffix(d.call("teller", "arguments", `{}`).lenient(), "two")
	})
	if n := opened(w, launchPrompt); n != 3 {
		t.Errorf("the user was asked %d times", n)
	}
}

// lenient returns the text of a call, or "" if it failed: the server may be restarted during the call.
func (c *call) lenient() string {
	<-c.over
	if c.err != nil || c.response.GetError() != nil {
		return ""
	}
	return textOf(c.t, c.response.GetResultJson())
}

// TestLaunchFirstAnswerWins: two windows show one prompt, whose first answer counts and whose later answer is refused;
// a second call waits for the same prompt.
func TestLaunchFirstAnswerWins(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	d, _ := e.hub(e.tellerFile())
	a, b := d.window("side bar"), d.window("panel")
	quiet := d.windowWith(fakeeditor.Options{Title: "no launches", Kinds: []mcphubv1.PromptKind{approval}})
	calls := []*call{d.call("teller", "directory", `{}`), d.call("teller", "directory", `{}`)}
	id := a.WaitPrompt(launchPrompt).GetPromptId()
	if other := b.WaitPrompt(launchPrompt).GetPromptId(); other != id {
		t.Fatalf("two questions: %s and %s", id, other)
	}
	takes(t, b.AcceptFor(id, once))
	for _, w := range []*fakeeditor.Window{a, b} {
		if got := w.WaitClosed(id); got.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED ||
			got.GetWindowId() != b.ID() {
			t.Errorf("%s: %v", w, got)
		}
	}
	refused(t, a.Decline(id, "too late"), "PROMPT_CLOSED")
	for _, c := range calls {
		c.text()
	}
	for _, w := range []*fakeeditor.Window{a, b} {
		if n := opened(w, launchPrompt); n != 1 {
			t.Errorf("%s was asked %d times", w, n)
		}
	}
	if n := opened(quiet, launchPrompt); n != 0 {
		t.Errorf("a window that shows no launches was asked")
	}
}

// TestLaunchTrustedByHost: nobody is asked about a server of a file that the host declares trusted, or of a file of the
// user. Without that, and without a window, nothing is started.
func TestLaunchTrustedByHost(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	source := e.tellerFile("--pid", e.file("pid"))
	d, _ := e.hub(source)
	d.call("teller", "directory", `{}`).fails("FAILED_PRECONDITION", "NO_APPROVER")
	if _, err := os.Stat(e.file("pid")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was started all the same: %v", err)
	}
	w := d.window("side bar")
	source.Trusted = true
	d.loadFiles(source)
	d.call("teller", "directory", `{}`).text()
	if n := opened(w, launchPrompt); n != 0 ||
		d.server("teller").GetLaunchConsent() != mcphubv1.LaunchConsent_LAUNCH_CONSENT_UNSPECIFIED {
		t.Errorf("asked %d times; %v", n, d.server("teller").GetLaunchConsent())
	}
	// The trust is taken back.
	source.Trusted = false
	d.loadFiles(source)
	if _, err := d.Servers.StopServer(d.ctx, &mcphubv1.StopServerRequest{Server: "teller"}); err != nil {
		t.Fatal(err)
	}
	c := d.call("teller", "directory", `{}`)
	takes(t, w.Decline(w.WaitPrompt(launchPrompt).GetPromptId(), ""))
	c.fails("FAILED_PRECONDITION", "LAUNCH_DECLINED")
	// The same file as one of the user.
	d.loadFiles(e.ofUser(source.Path))
	d.call("teller", "directory", `{}`).text()
	if n := opened(w, launchPrompt); n != 1 {
		t.Errorf("asked %d times, want only the one that was declined", n)
	}
}
