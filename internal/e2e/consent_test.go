//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

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
