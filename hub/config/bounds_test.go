package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listed writes n elements, each in a line of its own.
func listed(n int, element func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = element(i)
	}
	return strings.Join(all, ",\n")
}

// Finding A13: the content of a workspace file is bounded; what exceeds a bound is reported with its line and key, and
// affects no other entry.
func TestWorkspaceFileIsBounded(t *testing.T) {
	text := func(i int) string { return fmt.Sprintf("%q", fmt.Sprint("a", i)) }
	pair := func(i int) string { return fmt.Sprintf(`"A%d": "x"`, i) }
	for name, tt := range map[string]struct {
		entry, key string
		line       int
	}{
		"args": {"{\"command\": \"c\", \"args\": [\n" + listed(1001, text) + "]}", "args", 1003},
		"env":  {"{\"command\": \"c\", \"env\": {\n" + listed(1001, pair) + "}}", "env", 1003},
		"headers": {"{\"url\": \"https://a.example\", \"type\": \"http\", \"headers\": {\n" + listed(1001, pair) +
			"}}", "headers", 1003},
		"approved": {"{\"command\": \"c\", \"alwaysAllow\": [\n" + listed(1001, text) + "]}", "alwaysAllow", 1003},
		"policies": {"{\"command\": \"c\", \"approvals\": {\n" + listed(1001, func(i int) string {
			return fmt.Sprintf(`"A%d": "allow"`, i)
		}) + "}}", "approvals", 1003},
		"keys":    {"{\"command\": \"c\", \n" + listed(1001, pair) + "}", "", 1002},
		"pattern": {`{"command": "c", "alwaysAllow": ["` + strings.Repeat("*a", 600) + `"]}`, "alwaysAllow[0]", 2},
	} {
		t.Run(name, func(t *testing.T) {
			file := `{"mcpServers": {"before": {"command": "c"},` + "\n" + `"much": ` + tt.entry +
				`, "after": {"command": "c"}}}`
			servers, problems := Load([]Source{{Path: "mcp.json", Scope: "workspace", JSON: []byte(file)}})
			if len(servers) != 2 || servers[0].Name != "before" || servers[1].Name != "after" {
				t.Errorf("%d servers are left", len(servers))
			}
			if len(problems) != 1 || problems[0].Server != "much" || problems[0].Key != tt.key || problems[0].Line != tt.line ||
				!problems[0].Fatal {
				t.Errorf("%.400v", problems)
			}
			if servers, _ := Load([]Source{{Path: "mcp.json", Scope: "user", JSON: []byte(file)}}); len(servers) != 3 {
				t.Errorf("of the user's own file %d servers are left", len(servers))
			}
		})
	}
	many := "{\"mcpServers\": {\n" + listed(100_000, func(i int) string {
		return fmt.Sprintf(`"s%d":{"command":"c"}`, i)
	}) + "}}"
	many = many[:strings.LastIndex(many[:1<<20-10], ",")] + "}}"
	servers, problems := Load([]Source{{Path: "mcp.json", Scope: "workspace", JSON: []byte(many)},
		{Path: "other", JSON: []byte(`{"mcpServers": {"t": {"command": "c"}}}`)}})
	if len(servers) != 201 || servers[199].Name != "s199" || servers[200].Name != "t" {
		t.Errorf("%d servers of too many", len(servers))
	}
	if len(problems) != 1 || problems[0].Line != 202 || problems[0].Key != "mcpServers.s200" ||
		!strings.Contains(problems[0].Message, "200 servers") || problems[0].Fatal {
		t.Errorf("%v", problems)
	}
}

// Finding A13: the number of problems that are reported for an entry is bounded, too.
func TestProblemsOfAWorkspaceFileAreBounded(t *testing.T) {
	file := `{"mcpServers": {` + listed(200, func(i int) string {
		return fmt.Sprintf(`"s%d": {"command": "c", %s}`, i, listed(300, func(i int) string {
			return fmt.Sprintf(`"x%d":1`, i)
		}))
	}) + `}}`
	servers, problems := Load([]Source{{Path: "mcp.json", Scope: "workspace", JSON: []byte(file)}})
	if len(servers) != 200 || len(problems) != 200*51 || !strings.Contains(problems[50].Message, "more is wrong") {
		t.Errorf("%d servers, %d problems", len(servers), len(problems))
	}
}

// Finding A13: a workspace file of more than 1 MiB is not read, also if the host passes its text.
func TestLargeWorkspaceFileIsNotRead(t *testing.T) {
	text := `{"mcpServers": {"s": {"command": "c"}}}` + strings.Repeat(" ", 1<<20)
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, src := range []Source{{Path: file, Scope: "workspace"}, {Path: "text", JSON: []byte(text)}} {
		servers, problems := Load([]Source{src})
		if len(servers) != 0 || len(problems) != 1 || !problems[0].Fatal ||
			!strings.Contains(problems[0].Message, "1048576") {
			t.Errorf("%v", problems)
		}
		src.Scope = "user"
		if servers, _ := Load([]Source{src}); len(servers) != 1 {
			t.Error("the user's own file is not read")
		}
	}
}

// Finding C4: the scope of a source decides what it may do without a question, so a source without one is treated like
// a workspace's.
func TestSourceWithoutScopeIsAWorkspaces(t *testing.T) {
	servers, _ := Load([]Source{{Path: "mcp.json", JSON: []byte(`{"mcpServers": {"s": {"command": "c"}}}`)}})
	if len(servers) != 1 || servers[0].Origin.Scope != "workspace" || !servers[0].Origin.NeedsConsent() {
		t.Errorf("%+v", servers)
	}
}

// Finding C3: an entry of a workspace that is disabled does not replace one of the user, and an entry that only says
// "disabled" disables no server of the user.
func TestWorkspaceSwitchesNothingOfTheUsersOff(t *testing.T) {
	mine := Source{Path: "/u/opencode.json", Scope: "user", Dialect: DialectOpencode,
		JSON: []byte(`{"mcp": {"s": {"type": "local", "command": ["mine"]}}}`)}
	for name, text := range map[string]string{
		"whole":   `{"mcp": {"s": {"type": "local", "command": ["theirs"], "enabled": false}}}`,
		"partial": `{"mcp": {"s": {"enabled": false}}}`,
	} {
		theirs := Source{Path: "/w/opencode.json", Scope: "workspace", Dialect: DialectOpencode,
			Folder: "/w", JSON: []byte(text)}
		for _, sources := range [][]Source{{mine, theirs}, {theirs, mine}} {
			servers, _ := Load(sources)
			if len(servers) != 1 || servers[0].Disabled || servers[0].Command != "mine" {
				t.Errorf("%s: %+v", name, servers)
			}
		}
	}
}

// Behind has the other entries of a name, in the order in which they count if the first one does not.
func TestEntriesBehindAnother(t *testing.T) {
	source := func(path, scope string) Source {
		return Source{Path: path, Scope: scope, JSON: []byte(`{"mcpServers": {"s": {"command": "` + path + `"}}}`)}
	}
	servers, problems := Load([]Source{source("w1", "workspace"), source("u1", "user"), source("u2", "user"),
		source("w2", "workspace")})
	var order []string
	for _, s := range append(servers[:1:1], servers[0].Behind...) {
		order = append(order, s.Command)
	}
	if got := strings.Join(order, " "); got != "w2 w1 u2 u1" || len(problems) != 3 {
		t.Errorf("%s, %v", got, problems)
	}
}

// Finding A13: beyond the bound on reported problems, unknown keys are not compared with known ones either. The work is
// measured in allocations.
func TestKeysBeyondTheBoundAreNotCompared(t *testing.T) {
	const keys = 900 // less than bounds.FolderValues
	file := `{"mcpServers": {"s": {"command": "c", ` + listed(keys, func(i int) string {
		return fmt.Sprintf(`"x%d":1`, i)
	}) + `}}}`
	sources := []Source{{Path: "mcp.json", Scope: "workspace", JSON: []byte(file)}}
	if each := testing.AllocsPerRun(1, func() { Load(sources) }) / keys; each > 20 {
		t.Errorf("%.0f allocations for each key", each)
	}
}
