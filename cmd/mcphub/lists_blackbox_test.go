package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// listConfig has one server that works, one whose entry is broken, one that cannot start, and one that is switched off.
func listConfig(p *commands) string {
	return p.config("mcp.json", fmt.Sprintf(`{
  // a comment
  "mcpServers": {
    "good": {"command": %q, "args": ["demo-server"], "alwaysAllow": ["echo"]},
    "broken": {"args": ["no command"]},
    "missing": {"command": %q},
    "off": {"command": %q, "disabled": true},
  }
}`, p.path, filepath.Join(p.dir, "no-server"), p.path))
}

// row returns the line of a table that begins with a name.
func row(t *testing.T, table, name string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, name+" ") {
			return line
		}
	}
	t.Errorf("no row %s in:\n%s", name, table)
	return ""
}

func TestServersList(t *testing.T) {
	p := inBubbles(t)
	file := listConfig(p)
	r := p.run("servers", "--config", file)
	if r.status != 0 {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	if !strings.HasPrefix(r.stdout, "NAME ") {
		t.Errorf("no header:\n%s", r.stdout)
	}
	for name, want := range map[string][]string{
		"good":    {"stopped", file + ":4"},
		"broken":  {"broken", file + ":5", "command"},
		"missing": {"stopped", file + ":6"},
		"off":     {"disabled", file + ":7"},
	} {
		line := row(t, r.stdout, name)
		for _, s := range want {
			if !strings.Contains(line, s) {
				t.Errorf("the row of %s does not say %q: %s", name, s, line)
			}
		}
	}
	if !strings.Contains(r.stderr, file+":5") {
		t.Errorf("stderr does not tell of the broken entry:\n%s", r.stderr)
	}

	r = p.run("servers", "--json", "--config", file)
	var list mcphubv1.ListServersResponse
	if err := protojson.Unmarshal([]byte(r.stdout), &list); r.status != 0 || err != nil {
		t.Fatalf("status %d, %v: %s", r.status, err, r.stdout)
	}
	if strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("more than one line: %s", r.stdout)
	}
	var names []string
	for _, s := range list.GetServers() {
		names = append(names, s.GetName())
	}
	if got := strings.Join(names, " "); got != "good broken missing off" {
		t.Errorf("servers %s: not all, or not in the order of the config", got)
	}
}

func TestServersStart(t *testing.T) {
	p := inBubbles(t)
	r := p.run("servers", "--start", "--config", listConfig(p))
	if r.status != 6 {
		t.Errorf("status %d, want 6: one server cannot start\n%s", r.status, r.stderr)
	}
	good := row(t, r.stdout, "good")
	if !strings.Contains(good, "ready") || !strings.Contains(good, "modern") && !strings.Contains(good, "legacy") {
		t.Errorf("the good server: %s", good)
	}
	if line := row(t, r.stdout, "missing"); !strings.Contains(line, "failed") ||
		!strings.Contains(line, "no-server") {
		t.Errorf("the missing server: %s", line)
	}
}

func TestToolsTable(t *testing.T) {
	p := inBubbles(t)
	file := listConfig(p)
	r := p.run("tools", "good", "--config", file)
	if r.status != 0 {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	for tool, policy := range map[string]string{"echo": "allow", "sleep": "ask"} {
		found := false
		for line := range strings.Lines(r.stdout) {
			fields := strings.Fields(line)
			found = found || len(fields) > 3 && fields[0] == "good" && fields[1] == tool && fields[2] == policy
		}
		if !found {
			t.Errorf("no row for %s with policy %s:\n%s", tool, policy, r.stdout)
		}
	}

	// All servers: those in trouble are named on stderr and hide no other, and the status says that the list is
	// incomplete (finding D7).
	r = p.run("tools", "--config", file)
	if r.status != 6 || !strings.Contains(r.stdout, "echo") || !strings.Contains(r.stderr, "missing: ") {
		t.Errorf("status %d, stderr:\n%s\nstdout:\n%s", r.status, r.stderr, r.stdout)
	}
}

func TestToolsTrouble(t *testing.T) {
	p := inBubbles(t)
	file := listConfig(p)
	for _, name := range []string{"missing", "nobody"} {
		r := p.run("tools", name, "--config", file)
		want := 6
		if name == "nobody" { // a typo
			want = 2
		}
		if r.status != want || !strings.Contains(r.stderr, "mcphub tools: ") {
			t.Errorf("tools %s: status %d, stderr %q", name, r.status, r.stderr)
		}
		r = p.run("tools", name, "--json", "--config", file)
		if c := readConversation(t, r.stdout); r.status != want || c.failure == nil || c.failure.Reason == "" {
			t.Errorf("tools %s --json: status %d, %s", name, r.status, r.stdout)
		}
	}
}

// TestListsOfAFileThatCannotBeRead: the list is not what was asked for, which scripts must see by the status.
func TestListsOfAFileThatCannotBeRead(t *testing.T) {
	p := inBubbles(t)
	file := p.config("mcp.json", `{"mcpServers": {`)
	for _, command := range []string{"servers", "tools"} {
		if r := p.run(command, file); r.status != exitServer || !strings.Contains(r.stderr, "mcp.json:") {
			t.Errorf("%s: status %d, stderr %q", command, r.status, r.stderr)
		}
	}
}
