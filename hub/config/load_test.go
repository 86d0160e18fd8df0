package config

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func load(t *testing.T, text string) (Server, []Problem) {
	t.Helper()
	servers, problems := Load([]Source{{Path: "f", JSON: []byte(text)}})
	if len(servers) != 1 {
		t.Fatalf("%d servers: %v", len(servers), problems)
	}
	return servers[0], problems
}

// Every broken entry stands between two good ones, in a file between two good
// files: all good ones must come, in order, and the broken one must be told with
// its place.
func TestBrokenEntryHidesNoOther(t *testing.T) {
	tests := []struct{ entry, key string }{
		{`{}`, "command"},
		{`[]`, ""},
		{`{"command": 1}`, "command"},
		{`{"command": "x", "args": [true]}`, "args[0]"},
		{`{"command": "x", "env": {"A": []}}`, "env.A"},
		{`{"command": "x", "timeouts": {"idle": "soon"}}`, "timeouts.idle"},
		{`{"command": "x", "approvals": {"t": "maybe"}}`, "approvals.t"},
		{`{"command": "x", "stop": {"stdin": {}}}`, "stop.stdin"},
		{`{"type": "http"}`, "url"},
		{`{"type": "pigeon", "url": "https://example.com"}`, "type"},
		{`{"url": "example.com"}`, "url"},
		{`{"url": "https://example.com", "headers": {"Accept": "x"}}`, "headers.Accept"},
		{`{"url": "https://example.com", "oauth": {"redirectPort": 65536}}`, "oauth.redirectPort"},
	}
	for _, tt := range tests {
		t.Run(tt.entry, func(t *testing.T) {
			good := func(name string) string { return fmt.Sprintf(`{"mcpServers": {%q: {"command": "c"}}}`, name) }
			servers, problems := Load([]Source{
				{Path: "before", JSON: []byte(good("1"))},
				{Path: "middle", JSON: []byte("{\"mcpServers\": {\"2\": {\"command\": \"c\"},\n  \"bad\": " + tt.entry + ",\n\"3\": {\"command\": \"c\"}}}")},
				{Path: "after", JSON: []byte(good("4"))},
			})
			var names []string
			for _, s := range servers {
				names = append(names, s.Name)
			}
			if diff := cmp.Diff([]string{"1", "2", "3", "4"}, names); diff != "" {
				t.Error(diff)
			}
			if len(problems) != 1 {
				t.Fatalf("problems: %v", problems)
			}
			p := problems[0]
			if p.File != "middle" || p.Line != 2 || p.Column < 3 || p.Server != "bad" || p.Key != tt.key || !p.Fatal {
				t.Errorf("got %+v", p)
			}
			if !strings.HasPrefix(p.String(), fmt.Sprintf(`middle:2:%d: server "bad": `, p.Column)) {
				t.Errorf("as text: %s", p)
			}
		})
	}
}

func TestLoadFromDisk(t *testing.T) {
	dir := t.TempDir()
	good, missing := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "missing.json")
	text := "\xEF\xBB\xBF{\r\n \"servers\": {\r\n  \"a\": {\"command\": \"c\"}}}\r\n"
	if err := os.WriteFile(good, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	servers, problems := Load([]Source{{Path: missing, Scope: "user"}, {Path: good, Scope: "workspace"}, {Path: dir}})
	if len(servers) != 1 || servers[0].Origin != (Origin{File: good, Line: 3, Dialect: "vscode", Scope: "workspace"}) {
		t.Errorf("got %+v", servers)
	}
	if len(problems) != 2 || !problems[0].Fatal || !strings.HasPrefix(problems[0].String(), missing+": cannot be read: ") ||
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
			servers, problems := Load([]Source{{JSON: []byte(`{"servers": {` + string(name) + `: {"command": "c"}}}`)}})
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
		servers, problems := Load([]Source{{JSON: []byte(text)}})
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

// FuzzLoad: whatever comes in, Load does not panic, says the same again, returns
// only servers that are usable, and points into the file.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, seed := range seeds(f, files) {
		f.Add(seed, []byte(`{"servers": {"a": {"command": "x"}}}`))
	}
	f.Add([]byte(`{"mcpServers": {"\ud800": {"command": "\ud800", "timeouts": {"idle": 1e-400}}}}`), []byte("{"))
	f.Add([]byte(`{"servers": {"a": {"url": "http://[::1]:80/%2f?q", "headers": {"a": "\t"}, "oauth": {"scopes": " a b "}}}}`), []byte("[]"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		sources := []Source{{Path: "a", JSON: append([]byte{}, a...)}, {Path: "b", JSON: append([]byte{}, b...), Scope: "user"}}
		servers, problems := Load(sources)
		text := describe(servers, problems)
		if again := describe(Load(sources)); again != text {
			t.Fatalf("first:\n%s\nthen:\n%s", text, again)
		}
		names := map[string]bool{}
		for _, s := range servers {
			remote := s.Transport != TransportStdio
			if remote != (s.Command == "") || remote != (s.URL != "") || remote != (s.DisplayURL() != "") || badName(s.Name) != "" || names[s.Name] {
				t.Errorf("server %+v", s)
			}
			if _, err := http.NewRequest(http.MethodPost, s.URL, nil); remote && err != nil {
				t.Errorf("URL %q cannot be asked: %v", s.URL, err)
			}
			names[s.Name] = true
		}
		for _, p := range problems {
			data := map[string][]byte{"a": a, "b": b}[p.File]
			if lines := strings.Count(string(data), "\n") + 2; p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
				t.Errorf("problem %+v", p)
			}
			if strings.ContainsAny(p.String(), "\n\x00") {
				t.Errorf("problem in several lines: %q", p)
			}
		}
	})
}
