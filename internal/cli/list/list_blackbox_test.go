package list_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestServersList(t *testing.T) {
	p := clitest.InBubbles(t)
	file := clitest.ListConfig(p)
	r := p.Run("servers", "--config", file)
	if r.Status != 0 {
		t.Fatalf("status %d: %s", r.Status, r.Stderr)
	}
	if !strings.HasPrefix(r.Stdout, "NAME ") {
		t.Errorf("no header:\n%s", r.Stdout)
	}
	for name, want := range map[string][]string{
		"good":    {"stopped", file + ":4"},
		"broken":  {"broken", file + ":5", "command"},
		"missing": {"stopped", file + ":6"},
		"off":     {"disabled", file + ":7"},
	} {
		line := clitest.Row(t, r.Stdout, name)
		for _, s := range want {
			if !strings.Contains(line, s) {
				t.Errorf("the row of %s does not say %q: %s", name, s, line)
			}
		}
	}
	if !strings.Contains(r.Stderr, file+":5") {
		t.Errorf("stderr does not tell of the broken entry:\n%s", r.Stderr)
	}

	r = p.Run("servers", "--json", "--config", file)
	var list mcphubv1.ListServersResponse
	if err := protojson.Unmarshal([]byte(r.Stdout), &list); r.Status != 0 || err != nil {
		t.Fatalf("status %d, %v: %s", r.Status, err, r.Stdout)
	}
	if strings.Count(r.Stdout, "\n") != 1 {
		t.Errorf("more than one line: %s", r.Stdout)
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
	p := clitest.InBubbles(t)
	r := p.Run("servers", "--start", "--config", clitest.ListConfig(p))
	if r.Status != 6 {
		t.Errorf("status %d, want 6: one server cannot start\n%s", r.Status, r.Stderr)
	}
	good := clitest.Row(t, r.Stdout, "good")
	if !strings.Contains(good, "ready") || !strings.Contains(good, "modern") && !strings.Contains(good, "legacy") {
		t.Errorf("the good server: %s", good)
	}
	if line := clitest.Row(t, r.Stdout, "missing"); !strings.Contains(line, "failed") ||
		!strings.Contains(line, "no-server") {
		t.Errorf("the missing server: %s", line)
	}
}

func TestToolsTable(t *testing.T) {
	p := clitest.InBubbles(t)
	file := clitest.ListConfig(p)
	r := p.Run("tools", "good", "--config", file)
	if r.Status != 0 {
		t.Fatalf("status %d: %s", r.Status, r.Stderr)
	}
	for tool, policy := range map[string]string{"echo": "allow", "sleep": "ask"} {
		found := false
		for line := range strings.Lines(r.Stdout) {
			fields := strings.Fields(line)
			found = found || len(fields) > 3 && fields[0] == "good" && fields[1] == tool && fields[2] == policy
		}
		if !found {
			t.Errorf("no row for %s with policy %s:\n%s", tool, policy, r.Stdout)
		}
	}

	// All servers: those in trouble are named on stderr and hide no other, and the status says that the list is
	// incomplete (finding D7).
	r = p.Run("tools", "--config", file)
	if r.Status != 6 || !strings.Contains(r.Stdout, "echo") || !strings.Contains(r.Stderr, "missing: ") {
		t.Errorf("status %d, stderr:\n%s\nstdout:\n%s", r.Status, r.Stderr, r.Stdout)
	}
}

func TestToolsTrouble(t *testing.T) {
	p := clitest.InBubbles(t)
	file := clitest.ListConfig(p)
	for _, name := range []string{"missing", "nobody"} {
		r := p.Run("tools", name, "--config", file)
		want := exit.Server
		if name == "nobody" { // a typo
			want = exit.Usage
		}
		if r.Status != want || !strings.Contains(r.Stderr, "mcphub tools: ") {
			t.Errorf("tools %s: status %d, stderr %q", name, r.Status, r.Stderr)
		}
		r = p.Run("tools", name, "--json", "--config", file)
		if c := clitest.ReadConversation(t, r.Stdout); r.Status != want || c.Failure == nil || c.Failure.Reason == "" {
			t.Errorf("tools %s --json: status %d, %s", name, r.Status, r.Stdout)
		}
	}
}

// TestListsOfAFileThatCannotBeRead: the list is not what was asked for, which scripts must see by the status.
func TestListsOfAFileThatCannotBeRead(t *testing.T) {
	p := clitest.InBubbles(t)
	file := p.Config("mcp.json", `{"mcpServers": {`)
	for _, command := range []string{"servers", "tools"} {
		if r := p.Run(command, file); r.Status != exit.Server || !strings.Contains(r.Stderr, "mcp.json:") {
			t.Errorf("%s: status %d, stderr %q", command, r.Status, r.Stderr)
		}
	}
}
