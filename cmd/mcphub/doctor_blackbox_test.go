package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doctor"
)

// The doctor finds nothing to mend in the demo server, and what it has seen is in the report and in the JSON.
func TestDoctorOfTheDemoServer_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	commandLine, _ := p.demoServer()
	report := filepath.Join(p.dir, "report.md")
	// A step takes 30 s: on a busy machine the server hears of the cancel late, and no progress may come before.
	r := p.run("doctor", "--stdio", commandLine, "--tool", "sleep", "--args",
		`{"seconds":600,"steps":20}`, "--yes", "--json", "--watch", "300ms", "--report", report)
	if r.status != exitOK {
		t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	var found doctor.Report
	if err := json.Unmarshal([]byte(r.stdout), &found); err != nil {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	if found.Calls != 4 || len(found.Revisions) != 5 || found.Worst() == doctor.Mend {
		t.Errorf("%d calls, revisions %v, %s", found.Calls, found.Revisions, r.stdout)
	}
	text, err := os.ReadFile(report)
	if err != nil || !strings.Contains(string(text), "`cancel.stop`") {
		t.Errorf("the report: %v\n%s", err, text)
	}
}

// A name that no tool has is a mistake of the command line, and its flag for the time of a start counts.
func TestDoctorsFlags_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	commandLine, _ := p.demoServer()
	r := p.run("doctor", "--stdio", commandLine, "--tool", "slep", "--yes")
	if r.status != exitUsage || !strings.Contains(r.stderr, `did you mean "sleep"`) {
		t.Errorf("a mistyped tool: status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	r = p.run("doctor", "--stdio", commandLine, "--connect-timeout", "1ns", "--json")
	if r.status != exitToolError || !strings.Contains(r.stdout, "within 1ns, which --connect-timeout sets") {
		t.Errorf("a start without time: status %d: %s%s", r.status, r.stdout, r.stderr)
	}
}

// Nothing is called before somebody has agreed.
func TestDoctorAsksBeforeItCalls(t *testing.T) {
	p := inside(t)
	commandLine, record := p.demoServer()
	r := p.run("doctor", "--stdio", commandLine, "--tool", "sleep")
	if r.status != exitDenied || !strings.Contains(r.stderr, "up to 4 times") || !strings.Contains(r.stderr, "--yes") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("the server was started")
	}
}

func TestDoctorsUsage(t *testing.T) {
	p := inside(t)
	config := p.config("mcp.json", `{"mcpServers":{"files":{"command":"x"}}}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--config", config}, "which server"},
		{[]string{"flies", "--config", config}, `did you mean "files"`},
		{[]string{"files", "--config", config, "--args", "[]"}, "JSON object"},
		{[]string{"files", "--config", config, "--watch", "0s"}, "--watch"},
	} {
		r := p.run(append([]string{"doctor"}, c.args...)...)
		if r.status != exitUsage || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: status %d, %s", c.args, r.status, r.stderr)
		}
	}
}
