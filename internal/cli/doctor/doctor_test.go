package doctor_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	clidoctor "github.com/mcphub-go/mcphub/internal/cli/doctor"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/doctor"
)

// The doctor finds nothing to mend in the demo server, and what it has seen is in the report and in the JSON.
func TestDoctorOfTheDemoServer_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	commandLine, _ := p.DemoServer()
	report := filepath.Join(p.Folder, "report.md")
	// A step takes 30 s: on a busy machine the server hears of the cancel late, and no progress may come before.
	r := p.Run("doctor", "--stdio", commandLine, "--tool", "sleep", "--args",
		`{"seconds":600,"steps":20}`, "--yes", "--json", "--watch", "300ms", "--report", report)
	if r.Status != exit.OK {
		t.Fatalf("status %d: %s%s", r.Status, r.Stdout, r.Stderr)
	}
	var found doctor.Report
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	if found.Calls != 4 || len(found.Revisions) != 5 || found.Worst() == doctor.Mend {
		t.Errorf("%d calls, revisions %v, %s", found.Calls, found.Revisions, r.Stdout)
	}
	text, err := os.ReadFile(report)
	if err != nil || !strings.Contains(string(text), "`cancel.stop`") {
		t.Errorf("the report: %v\n%s", err, text)
	}
}

// A name that no tool has is a mistake of the command line, and its flag for the time of a start counts.
func TestDoctorsFlags_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	commandLine, _ := p.DemoServer()
	r := p.Run("doctor", "--stdio", commandLine, "--tool", "slep", "--yes")
	if r.Status != exit.Usage || !strings.Contains(r.Stderr, `did you mean "sleep"`) {
		t.Errorf("a mistyped tool: status %d: %s%s", r.Status, r.Stdout, r.Stderr)
	}
	r = p.Run("doctor", "--stdio", commandLine, "--connect-timeout", "1ns", "--json")
	if r.Status != exit.ToolError || !strings.Contains(r.Stdout, "within 1ns, which --connect-timeout sets") {
		t.Errorf("a start without time: status %d: %s%s", r.Status, r.Stdout, r.Stderr)
	}
}

// What the system's managed policy refuses is not started by the doctor either.
func TestDoctorObeysPolicy(t *testing.T) {
	p := clitest.Inside(t)
	commandLine, record := p.DemoServer()
	policy := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(policy, []byte(`{"allowedServers": [{"package": "npm:good"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	clidoctor.UsePolicyFile(t, policy)
	r := p.Run("doctor", "--stdio", commandLine, "--yes")
	if r.Status != exit.Usage || !strings.Contains(r.Stderr, "the rule allowedServers of "+policy+":1 does not name") {
		t.Errorf("status %d: %s%s", r.Status, r.Stdout, r.Stderr)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("the server was started")
	}
}

// Nothing is called before somebody has agreed.
func TestDoctorAsksBeforeItCalls(t *testing.T) {
	p := clitest.Inside(t)
	commandLine, record := p.DemoServer()
	r := p.Run("doctor", "--stdio", commandLine, "--tool", "sleep")
	if r.Status != exit.Denied || !strings.Contains(r.Stderr, "up to 4 times") || !strings.Contains(r.Stderr, "--yes") {
		t.Errorf("status %d: %s", r.Status, r.Stderr)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("the server was started")
	}
}

func TestDoctorsUsage(t *testing.T) {
	p := clitest.Inside(t)
	config := p.Config("mcp.json", `{"mcpServers":{"files":{"command":"x"}}}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--config", config}, "which server"},
		{[]string{"flies", "--config", config}, `did you mean "files"`},
		{[]string{"files", "--config", config, "--args", "[]"}, "JSON object"},
		{[]string{"files", "--config", config, "--watch", "0s"}, "--watch"},
	} {
		r := p.Run(append([]string{"doctor"}, c.args...)...)
		if r.Status != exit.Usage || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("%v: status %d, %s", c.args, r.Status, r.Stderr)
		}
	}
}

// TestDoctorAsksForTheFoldersServer: a server is not started without consent when its file was not named, but
// found in the current folder.
func TestDoctorAsksForTheFoldersServer(t *testing.T) {
	p := clitest.Inside(t)
	t.Chdir(t.TempDir())
	ran := filepath.Join(p.Folder, "ran")
	if err := os.WriteFile(".mcp.json", fmt.Appendf(nil,
		`{"mcpServers": {"theirs": {"command": "touch", "args": [%q]}}}`, ran), 0o600); err != nil {
		t.Fatal(err)
	}
	r := p.Run("doctor", "theirs")
	if _, err := os.Stat(ran); r.Status != exit.Denied || err == nil {
		t.Errorf("status %d, ran %v\n%s%s", r.Status, err == nil, r.Stdout, r.Stderr)
	}
}
