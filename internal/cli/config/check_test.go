package config_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/config"
	"github.com/mcphub-go/mcphub/internal/cli/source"
)

// mixed are two files with an entry for every verdict.
var mixed = map[string]string{
	"home/.cursor/mcp.json": `{"mcpServers": {
  "docs": {"command": "docs-server"},
  "old": {"url": "https://old.example/mcp?key=hidden"}
}}`,
	"project/.vscode/mcp.json": `{
  "servers": {
    "docs": {"command": "npx", "args": ["-y", "docs"], "timeouts": {"total": "90s", "idle": 0}},
    "off": {"url": "https://off.example/mcp", "type": "http", "disabled": true},
    "odd": {"command": "node", "args": ["x.js"], "colour": "red"},
    "bad": {"command": 7}
  }
}`,
}

// TestConfigCheck: each file with a line for each server, whatever is wrong with others, and the problems as a compiler
// shows them.
func TestConfigCheck(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(mixed)
	r := p.Run("config", "check", "--folder", work)
	got := strings.ReplaceAll(filepath.ToSlash(r.Stdout), filepath.ToSlash(p.Folder), "DIR")
	want := `DIR/home/.cursor/mcp.json (user)
LINE  SERVER  DIALECT  OVER   RUNS                     CONNECT  IDLE  TOTAL  VERDICT
2     docs    cursor   stdio  docs-server              1m       5m    1h     replaced by DIR/project/.vscode/mcp.json:3
3     old     cursor   auto   https://old.example/mcp  1m       5m    1h     ok
DIR/home/.cursor/mcp.json:2:3: warning: server "docs": this entry (DIR/home/.cursor/mcp.json:2) is replaced by the one at DIR/project/.vscode/mcp.json:3 (workspace) once the user has agreed to that one

DIR/project/.vscode/mcp.json (workspace)
LINE  SERVER  DIALECT  OVER   RUNS                     CONNECT  IDLE  TOTAL  VERDICT
3     docs    vscode   stdio  npx and 2 arguments      1m       none  1m30s  ok
4     off     vscode   auto   https://off.example/mcp  1m       5m    1h     disabled
5     odd     vscode   stdio  node and 1 argument      1m       5m    1h     warning
6     bad     vscode   -      -                        -        -     -      broken
DIR/project/.vscode/mcp.json:5:50: warning: server "odd": key "colour": is not known and was ignored
DIR/project/.vscode/mcp.json:6:24: error: server "bad": key "command": must be a string, is a number

6 servers in 2 files: 2 ok, 1 warning, 1 disabled, 1 replaced, 1 broken
`
	if diff := cmp.Diff(want, got); diff != "" || r.Status != 1 || r.Stderr != "" {
		t.Errorf("status %d, stderr %q, stdout (-want +got):\n%s", r.Status, r.Stderr, diff)
	}

	verbose := p.Run("config", "check", "--verbose", filepath.Join(work, ".vscode", "mcp.json"))
	for _, want := range []string{"\ndocs:\n  args at ", "mcp.json:3:32, key args\n", "timeouts.total at "} {
		if !strings.Contains(verbose.Stdout, want) {
			t.Errorf("--verbose does not say %q:\n%s", want, verbose.Stdout)
		}
	}
}

// TestConfigCheckNothingThere: that no known place has a file is no error.
func TestConfigCheckNothingThere(t *testing.T) {
	p := clitest.Inside(t)
	r := p.Run("config", "check", "--folder", p.AtHome(nil))
	if r.Status != 0 || !strings.Contains(r.Stdout, "no config file") {
		t.Errorf("status %d, stdout %q", r.Status, r.Stdout)
	}
	if r := p.Run("config", "check", filepath.Join(p.Folder, "none.json")); r.Status != 1 ||
		!strings.Contains(r.Stdout, "cannot be read") {
		t.Errorf("a named file that is not there: status %d, stdout %q", r.Status, r.Stdout)
	}
}

// checkJSON runs config check --json and reads what it prints: one object on one line.
func checkJSON(t *testing.T, c *clitest.Commands, args ...string) (report config.CheckedConfig,
	members map[string]json.RawMessage, r clitest.Ended) {
	t.Helper()
	r = c.Run(append([]string{"config", "check", "--json"}, args...)...)
	if strings.Count(r.Stdout, "\n") != 1 {
		t.Fatalf("the output is not one line: status %d, %q, %q", r.Status, r.Stdout, r.Stderr)
	}
	if err := json.Unmarshal([]byte(r.Stdout), &members); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	return report, members, r
}

// has fails unless an object has each of these members.
func has(t *testing.T, what string, object json.RawMessage, names ...string) map[string]json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, object)
	}
	for _, name := range names {
		if _, ok := members[name]; !ok {
			t.Errorf("%s has no %q: %s", what, name, object)
		}
	}
	return members
}

// TestConfigCheckJSON: every entry has every member, whatever its verdict, and the timeouts are those that apply.
func TestConfigCheckJSON(t *testing.T) {
	p := clitest.Inside(t)
	report, members, r := checkJSON(t, p, "--folder", p.AtHome(mixed))
	if r.Status != 1 {
		t.Errorf("status %d", r.Status)
	}
	has(t, "the output", json.RawMessage(r.Stdout), "servers", "problems")
	var servers, problems []json.RawMessage
	if json.Unmarshal(members["servers"], &servers) != nil || json.Unmarshal(members["problems"], &problems) != nil {
		t.Fatal("servers and problems are no arrays")
	}
	for _, s := range servers {
		m := has(t, "a server", s, "name", "dialect", "origin", "transport", "enabled", "timeouts", "problems")
		has(t, "an origin", m["origin"], "file", "line", "scope")
		for name, text := range has(t, "the timeouts", m["timeouts"], "connect", "idle", "total") {
			var s string
			if err := json.Unmarshal(text, &s); err != nil {
				t.Error(err)
			} else if _, err := time.ParseDuration(s); err != nil {
				t.Errorf("timeout %s: %v", name, err)
			}
		}
		var own []json.RawMessage
		if err := json.Unmarshal(m["problems"], &own); err != nil || own == nil {
			t.Errorf("the problems of a server are no array: %s", m["problems"])
		}
	}
	for _, o := range problems {
		has(t, "a problem", o, "file", "line", "column", "server", "key", "message", "fatal")
	}
	type row struct {
		Name, Transport, Verdict, Idle, Total string
		Line                                  int
		Enabled                               bool
		Problems                              int
	}
	var got []row
	for _, s := range report.Servers {
		got = append(got, row{s.Name, s.Transport, s.Verdict, s.Timeouts.Idle, s.Timeouts.Total, s.Origin.Line, s.Enabled,
			len(s.Problems)})
	}
	want := []row{
		{"docs", "stdio", "replaced", "5m0s", "1h0m0s", 2, false, 1},
		{"old", "auto", "ok", "5m0s", "1h0m0s", 3, true, 0},
		{"docs", "stdio", "ok", "0s", "1m30s", 3, true, 0},
		{"off", "auto", "disabled", "5m0s", "1h0m0s", 4, false, 0},
		{"odd", "stdio", "warning", "5m0s", "1h0m0s", 5, true, 1},
		{"bad", "", "broken", "5m0s", "1h0m0s", 6, false, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if by := report.Servers[0].ShadowedBy; by == nil || by.Line != 3 || by.Scope != "workspace" {
		t.Errorf("the replaced entry says it is replaced by %v", by)
	}
	if at := report.Servers[2].Fields["timeouts.total"]; at.Line != 3 || at.Key == "" {
		t.Errorf("timeouts.total comes from %v", at)
	}
}

// TestConfigCheckListsSoundServersBesideBrokenOnes: neither a broken entry nor a broken file hides anything else.
func TestConfigCheckListsSoundServersBesideBrokenOnes(t *testing.T) {
	p := clitest.Inside(t)
	p.Programs("a")
	half := p.Config("half.json", `{"mcpServers": {"a": {`)
	file := p.Config("mcp.json",
		`{"mcpServers": {"first": {"command": "a"}, "bad": {"args": 7}, "second": {"url": "https://b.example"}}}`)
	report, _, r := checkJSON(t, p, half, file)
	if r.Status != 1 {
		t.Errorf("status %d", r.Status)
	}
	enabled := map[string]bool{}
	for _, s := range report.Servers {
		enabled[s.Name] = s.Enabled
		if s.Name == "bad" && (s.Verdict != "broken" || len(s.Problems) == 0 || !s.Problems[0].Fatal) {
			t.Errorf("the broken entry: %+v", s)
		}
	}
	if diff := cmp.Diff(map[string]bool{"first": true, "bad": false, "second": true}, enabled); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(report.Problems, func(p config.CheckedProblem) bool {
		return p.File == half && p.Fatal && p.Line > 0
	}) {
		t.Errorf("nothing is said of the broken file: %v", report.Problems)
	}
	if r := p.Run("config", "check", file); r.Status != 1 || !strings.Contains(r.Stdout, "first") ||
		!strings.Contains(r.Stdout, "second") {
		t.Errorf("status %d, stdout\n%s", r.Status, r.Stdout)
	}
	if r := p.Run("config",
		"check", p.Config("fine.json", `{"mcpServers": {"a": {"command": "a", "colour": 1}}}`)); r.Status != 0 {
		t.Errorf("a warning alone: status %d\n%s", r.Status, r.Stdout)
	}
}

// TestConfigPlaces: all known places are listed, and which of them exist.
func TestConfigPlaces(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(mixed)
	var got struct {
		Places []config.KnownPlace `json:"places"`
	}
	r := p.Run("config", "places", "--json", "--folder", work)
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || r.Status != 0 {
		t.Fatalf("status %d, %v\n%s", r.Status, err, r.Stdout)
	}
	there := map[string]string{}
	seen := map[string]bool{}
	for _, at := range got.Places {
		seen[at.Dialect] = true
		if at.Exists {
			there[at.File] = at.Dialect + " " + at.Scope
		}
	}
	want := map[string]string{
		filepath.Join(p.Folder, "home", ".cursor", "mcp.json"): "cursor user",
		filepath.Join(work, ".vscode", "mcp.json"):             "vscode workspace",
	}
	if diff := cmp.Diff(want, there); diff != "" {
		t.Errorf("there (-want +got):\n%s", diff)
	}
	for _, dialect := range source.Dialects {
		if !seen[dialect] && dialect != "mcpServers" && dialect != "claude-desktop" {
			t.Errorf("no place is known for %s", dialect)
		}
	}
	text := p.Run("config", "places", "--folder", work)
	if text.Status != 0 || strings.Count(text.Stdout, "\n") != len(got.Places)+1 ||
		strings.Count(text.Stdout, " yes ") != 2 {
		t.Errorf("status %d\n%s", text.Status, text.Stdout)
	}
}

// TestConfigUsage: what makes no sense is refused, not guessed at.
func TestConfigUsage(t *testing.T) {
	p := clitest.Inside(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "config check"},
		{[]string{"fix"}, "config fix"},
		{[]string{"check", "--scope", "mine", "x"}, "user, workspace or host"},
		{[]string{"check", "--dialect", "latin", "x"}, "one of vscode"},
		{[]string{"check", "--scope", "user"}, "none is named"},
		{[]string{"check", "--folder", filepath.Join(p.Folder, "none")}, "no such folder"},
		{[]string{"places", "x"}, "too many"},
		{[]string{"places", "--verbose"}, "--folder and --json"},
	} {
		if r := p.Run(append([]string{"config"}, test.args...)...); r.Status != 2 || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("config %q: status %d, stderr %q", test.args, r.Status, r.Stderr)
		}
	}
}
