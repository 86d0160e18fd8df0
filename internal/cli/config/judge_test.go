package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/config"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestConfigCheckJudgesAsAStart: what would make the start of an entry fail is reported with its place, and ends
// with status 1; what a start would only warn of is a warning. Finding D3.
func TestConfigCheckJudgesAsAStart(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(map[string]string{"project/here.env": "A=1\n"})
	p.Setenv("SHELL", filepath.Join(p.Folder, "no-shell"))
	p.Setenv("SET_HERE", "x")
	p.Unsetenv("NOT_SET_HERE")
	const inputs = `"inputs": [{"type": "promptString", "id": "any"}, {"type": "promptString", "id": "port"},
		{"type": "pickString", "id": "which", "options": ["node", "npx"]}]`
	for _, tt := range []struct {
		dialect, entry, verdict, key, want string
	}{
		{"vscode", `{"command": "node", "args": ["${input:nope}"]}`, "broken", "args[0]", `refers to the input "nope"`},
		{"vscode", `{"command": "node", "args": ["${config:x}"]}`, "broken", "args[0]",
			`"${config:x}", which the hub does not`},
		{"vscode", `{"command": "node", "args": ["${command:x}"]}`, "broken", "args[0]",
			`"${command:x}", which the hub does not`},
		{"vscode", `{"command": "node", "cwd": "${workspaceFolder:x}"}`, "broken", "cwd",
			"there is no such workspace folder"},
		{"vscode", `{"command": "npx -y x"}`, "broken", "command",
			`write "command": "npx", and move what follows into "args"`},
		{"vscode", `{"url": "https://${env:NOT_SET_HERE}/mcp"}`, "broken", "url", `variable "NOT_SET_HERE" is not set`},
		{"vscode", `{"url": "https://a.example/${env:NOT_SET_HERE}"}`, "warning", "url", `"NOT_SET_HERE" is not set`},
		{"vscode", `{"command": "node", "env": {"A": "${env:NOT_SET_HERE}"}}`, "warning", "env.A", "is not set"},
		{"portable", `{"command": "node", "args": ["${NOT_SET_HERE}"]}`, "warning", "args[0]", "is not set"},
		{"portable", `{"type": "http", "url": "https://a.example", "headers": {"X": "${NOT_SET_HERE}"}}`, "warning",
			"headers.X",
			"is not set"},
		{"portable", `{"type": "http", "url": "https://${NOT_SET_HERE}/mcp"}`, "broken", "url", "is not a URL"},
		{"portable", `{"command": "node", "inheritEnv": ["NOT_SET_HERE"]}`, "warning", "inheritEnv[0]", "is not set"},
		{"vscode", `{"url": "https://a.example:99999/mcp"}`, "broken", "url", "has a port that is none"},
		{"vscode", `{"command": "C:\node.exe"}`, "broken", "command", `write \\ for each backslash`},
		{"vscode", `{"command": "node", "cwd": "is/nowhere"}`, "broken", "cwd", "does not exist"},
		{"vscode", `{"command": "is-nowhere"}`, "broken", "command", `"is-nowhere": it was not found in the PATH`},
		{"vscode", `{"command": "node", "envFile": "nowhere.env"}`, "broken", "envFile", "cannot be read"},
		{"vscode", `{"url": "https://a.example", "headers": {"a b": "c"}}`, "broken", "headers.a b", "the name of a header"},
		{"opencode", `{"type": "local", "command": ["node", "{file:nowhere}"]}`, "broken", "args[0]", "cannot be read"},
		// What is right, and what depends on a value that only a person gives.
		{"vscode", `{"command": "node", "envFile": "here.env", "args": ["${env:SET_HERE}", "${workspaceFolder}"]}`, "ok", "",
			""},
		{"vscode", `{"command": "${input:which}", "args": ["${input:any}"]}`, "ok", "", ""},
		{"vscode", `{"command": "node", "cwd": "${input:any}", "envFile": "${input:any}"}`, "ok", "", ""},
		{"vscode", `{"url": "${input:any}/mcp"}`, "ok", "", ""},
		{"vscode", `{"url": "http://localhost:${input:port}/mcp"}`, "ok", "", ""},
		{"vscode", `{"command": "is-nowhere", "args": ["${input:nope}"], "disabled": true}`, "disabled", "", ""},
	} {
		holder := map[string]string{"vscode": "servers", "opencode": "mcp"}[tt.dialect]
		if holder == "" {
			holder = "mcpServers"
		}
		text := `{"` + holder + "\": {\n\"s\": " + tt.entry + "}"
		if tt.dialect == "vscode" {
			text += ", " + inputs
		}
		file := filepath.Join(work, tt.dialect+".json")
		if err := os.WriteFile(file, []byte(text+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		report, _, r := checkJSON(t, p, "--folder", work, "--dialect", tt.dialect, file)
		status := map[bool]exit.Status{true: 1}[tt.verdict == "broken"]
		if len(report.Servers) != 1 || report.Servers[0].Verdict != tt.verdict || r.Status != status {
			t.Errorf("%s: status %d, want %s\n%s", tt.entry, r.Status, tt.verdict, r.Stdout)
			continue
		}
		found := tt.want == "" && len(report.Problems) == 0
		for _, q := range report.Problems {
			found = found || q.Key == tt.key && q.Line == 2 && strings.Contains(q.Message, tt.want) && tt.want != ""
		}
		if !found || len(report.Problems) != len(report.Servers[0].Problems) {
			t.Errorf("%s: want key %q with %q\n%s", tt.entry, tt.key, tt.want, r.Stdout)
		}
	}
}

// An entry that the system's managed policy refuses is broken, with the rule. A policy that cannot be used refuses all.
func TestConfigCheckTellsPolicy(t *testing.T) {
	p := clitest.Inside(t)
	p.AtHome(nil)
	p.Setenv("SHELL", filepath.Join(p.Folder, "no-shell"))
	file := p.Config("mcp.json", `{"mcpServers": {
  "good": {"command": "node", "args": ["x.js"]},
  "bad": {"command": "node", "args": ["node_modules/evil/x.js"]}
}}`)
	policy := filepath.Join(t.TempDir(), "policy.json")
	config.UsePolicyFile(t, policy)
	for _, tt := range []struct{ text, good, bad, want string }{
		{"", "ok", "ok", ""},
		{`{"deniedServers": [{"package": "npm:evil"}]}`, "ok", "broken", "the rule deniedServers[0] of " + policy + ":1 denies npm:evil"},
		{"{\n}}", "broken", "broken", "the policy " + policy + ":2 cannot be used"},
	} {
		if tt.text != "" {
			if err := os.WriteFile(policy, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		report, _, r := checkJSON(t, p, file)
		if len(report.Servers) != 2 || report.Servers[0].Verdict != tt.good || report.Servers[1].Verdict != tt.bad {
			t.Errorf("%s: %s", tt.text, r.Stdout)
		}
		if n := len(report.Problems); tt.want != "" && (n == 0 || !strings.Contains(report.Problems[n-1].Message, tt.want)) {
			t.Errorf("%s: %s", tt.text, r.Stdout)
		}
	}
}

// TestConfigCheckStart: each server that can be started is started and stopped again, and its result is reported
// once.
func TestConfigCheckStart(t *testing.T) {
	p := clitest.InBubbles(t)
	p.AtHome(nil)
	p.Setenv("SHELL", filepath.Join(p.Folder, "no-shell"))
	file := p.Config("mcp.json", `{"mcpServers": {
  "good": {"command": "`+filepath.ToSlash(p.Binary)+`", "args": ["demo-server"]},
  "ends": {"command": "`+filepath.ToSlash(p.Binary)+`", "args": ["no-such-command"]},
  "off": {"command": "`+filepath.ToSlash(p.Binary)+`", "args": ["demo-server"], "disabled": true},
  "lost": {"command": "is-nowhere"}
}}`)
	report, _, r := checkJSON(t, p, "--start", file)
	got := map[string]string{}
	for _, s := range report.Servers {
		got[s.Name] = s.Verdict
		if tried := s.Tried != nil; tried != (s.Name == "good" || s.Name == "ends") || tried &&
			s.Tried.OK != (s.Name == "good") {
			t.Errorf("%s: tried %+v", s.Name, s.Tried)
		}
		if s.Verdict == "broken" && len(s.Problems) != 1 {
			t.Errorf("%s: %d problems: %v", s.Name, len(s.Problems), s.Problems)
		}
	}
	want := map[string]string{"good": "ok", "ends": "broken", "off": "disabled", "lost": "broken"}
	if diff := cmp.Diff(want, got); diff != "" || r.Status != 1 || r.Stderr != "" {
		t.Errorf("status %d, stderr %q (-want +got):\n%s", r.Status, r.Stderr, diff)
	}
	// A problem names its server, and what the hub says of the start begins with the name, too.
	if r := p.Run("config", "check", "--start", file); !strings.Contains(r.Stdout, `error: server "ends": did not start: `) ||
		strings.Count(r.Stdout, `server "ends"`) != 1 {
		t.Errorf("of a server that does not start:\n%s", r.Stdout)
	}
	r = p.Run("config", "check", "--start", p.Config("good.json", `{"mcpServers": {"good": {"command": "`+
		filepath.ToSlash(p.Binary)+`", "args": ["demo-server"]}}}`))
	if r.Status != 0 || !strings.Contains(r.Stdout, "ok, started in ") {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	// A workspace's server is asked about, as mcphub servers --start asks; nobody is here to say yes.
	for launch, status := range map[string]exit.Status{"deny": 1, "allow": 0} {
		r = p.Run("config", "check", "--start", "--scope", "workspace", "--launch", launch, filepath.Join(p.Folder, "good.json"))
		if r.Status != status {
			t.Errorf("--launch %s: status %d\n%s%s", launch, r.Status, r.Stdout, r.Stderr)
		}
	}
}
