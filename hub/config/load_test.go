package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t *testing.T, text string) (Server, []Problem) {
	t.Helper()
	servers, problems := Load([]Source{{Path: "f", Scope: "host", JSON: []byte(text)}})
	if len(servers) != 1 {
		t.Fatalf("%d servers: %v", len(servers), problems)
	}
	return servers[0], problems
}

func TestLoadFromDisk(t *testing.T) {
	dir := t.TempDir()
	good, missing := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "missing.json")
	text := "\xEF\xBB\xBF{\r\n \"servers\": {\r\n  \"a\": {\"command\": \"c\"}}}\r\n"
	if err := os.WriteFile(good, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	servers, problems := Load([]Source{{Path: missing, Scope: "user"}, {Path: good, Scope: "workspace"},
		{Path: dir, Scope: "host"}})
	if len(servers) != 1 || servers[0].Origin != (Origin{File: good, Line: 3, Pointer: "/servers/a", Dialect: "vscode",
		Scope: "workspace"}) {
		t.Errorf("got %+v", servers)
	}
	if len(problems) != 2 || !problems[0].Fatal || !strings.HasPrefix(problems[0].String(), missing+
		": cannot be read: ") ||
		problems[1].File != dir {
		t.Errorf("got %v", problems)
	}
	if servers, problems := Load(nil); servers != nil || problems != nil {
		t.Errorf("of nothing comes %v, %v", servers, problems)
	}
	s, _ := load(t, `{"servers": {"a": {"command": "c"}}}`)
	if s.Origin.Scope != "host" || s.Era != "auto" {
		t.Errorf("got %+v", s)
	}
}

func TestServerNames(t *testing.T) {
	tests := []struct {
		name string
		ok   bool
	}{
		{"a", true}, {" ", true}, {"fs/read ü.1", true},
		{strings.Repeat("é", 128), true},
		{strings.Repeat("é", 129), false},
		{"", false}, {"a\nb", false}, {"\u0085", false}, {"\u007f", false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.10q", tt.name), func(t *testing.T) {
			name, err := json.Marshal(tt.name)
			if err != nil {
				t.Fatal(err)
			}
			servers,
				problems := Load([]Source{{Scope: "host", JSON: []byte(`{"servers": {` + string(name) + `: {"command": "c"}}}`)}})
			if tt.ok && (len(servers) != 1 || servers[0].Name != tt.name || len(problems) != 0) {
				t.Errorf("got %v, %v", servers, problems)
			}
			if !tt.ok && (len(servers) != 0 || len(problems) != 1 || !problems[0].Fatal || len(problems[0].String()) > 500) {
				t.Errorf("got %v, %v", servers, problems)
			}
		})
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, text := range []string{deep, `{"mcpServers": {"a": {"command": "c", "dev": ` + deep} {
		servers, problems := Load([]Source{{Scope: "host", JSON: []byte(text)}})
		if len(servers) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Message, "nested") {
			t.Errorf("got %v, %v", servers, problems)
		}
	}
	// Brackets in text and comments do not count.
	flat := strings.Repeat("[{", maxDepth)
	s, problems := load(t, `{"servers": {"a": {"command": "c", "args": ["\"`+flat+`"] /* "`+flat+` */ // '`+flat+"\n}}}")
	if s.Args[0] != `"`+flat || len(problems) != 0 {
		t.Errorf("got %v, %v", s, problems)
	}
}

// An entry that is left out takes nothing from another one of its name, whoever wrote either, and is not read as one
// that is switched off.
func TestReadWithout(t *testing.T) {
	entry := func(command string) []byte { return []byte(`{"mcpServers":{"s":{"command":"` + command + `"}}}`) }
	user := Source{Path: "/user/mcp.json", Scope: "user", JSON: entry("db")}
	other := Source{Path: "/other/mcp.json", Scope: "user", JSON: entry("db")}
	folder := Source{Path: "/w/.mcp.json", Scope: "workspace", Folder: "/w", JSON: entry("db")}
	leaveOut := func(s Server) string {
		if s.Command == "self" {
			return "it is me"
		}
		return ""
	}
	for _, self := range []*Source{&user, &other, &folder} {
		self.JSON = entry("self")
		c := ReadWithout(leaveOut, []Source{user, other, folder})
		want := map[string]bool{user.Path: true, other.Path: true, folder.Path: true}
		delete(want, self.Path)
		if len(c.Servers) != 1 || len(c.Servers[0].Behind) != 1 || len(c.Servers[0].Shadows) != 1 {
			t.Fatalf("without that of %s: %+v", self.Path, c.Servers)
		}
		for _, s := range append(c.Servers, c.Servers[0].Behind...) {
			if !want[s.Origin.File] || s.Disabled {
				t.Errorf("without that of %s: %+v", self.Path, s)
			}
		}
		told := 0
		for _, p := range c.Problems {
			if p.File == self.Path && p.Server == "s" && p.Message == "is left out: it is me" && !p.Fatal && p.Line == 1 {
				told++
			}
		}
		if told != 1 {
			t.Errorf("problems %+v", c.Problems)
		}
		self.JSON = entry("db")
	}
}
