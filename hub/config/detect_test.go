package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDetection(t *testing.T) {
	const plain = `{"mcpServers": {"s": {"command": "c"}}}`
	entries := func(more string) string { return `{"mcpServers": {"s": {"command": "c", ` + more + `}}}` }
	mcp := func(kind, rest string) string { return `{"mcp": {"s": {"type": "` + kind + `", ` + rest + `}}}` }
	for _, tt := range []struct{ path, text, want string }{
		// By the name of the file.
		{"/w/.vscode/mcp.json", `{"servers": {"s": {"command": "c"}}}`, DialectVSCode},
		{"/w/.vscode/mcp.json", plain, DialectVSCode},
		{`C:\w\.vscode\mcp.json`, plain, DialectVSCode},
		{"/w/.mcp.json", plain, DialectPortable},
		{"/w/.copilot/mcp-config.json", plain, DialectPortable},
		{"/u/.claude.json", plain, DialectPortable},
		{"/u/settings/mcp_settings.json", plain, DialectRoo},
		{"/w/.roo/mcp.json", plain, DialectRoo},
		{`C:\w\.roo\mcp.json`, plain, DialectRoo},
		{"/w/.kilocode/mcp.json", plain, DialectRoo},
		{"/u/settings/cline_mcp_settings.json", plain, DialectCline},
		{"/u/Claude/claude_desktop_config.json", plain, DialectDesktop},
		{"/u/Claude/Claude_Desktop_Config.json", plain, DialectDesktop},
		{"/u/.cursor/mcp.json", plain, DialectCursor},
		{"/u/.codeium/windsurf/mcp_config.json", plain, DialectCursor},
		{"/w/.windsurf/mcp.json", plain, DialectCursor},
		{"/u/.gemini/settings.json", plain, DialectGemini},
		{"/u/.qwen/settings.json", plain, DialectGemini},
		{"/u/settings.json", plain, DialectMcpServers},
		{"/u/opencode.json", mcp("local", `"command": ["c"]`), DialectOpencode},
		{"/u/opencode.jsonc", mcp("stdio", `"command": ["c"]`), DialectOpencode},
		{"/w/.crush.json", mcp("stdio", `"command": "c"`), DialectCrush},
		{"/w/crush.json", mcp("stdio", `"command": "c"`), DialectCrush},
		// What VS Code has in its settings, and a dev container brings along.
		{"/w/.vscode/settings.json", `{"editor.tabSize": 2, "mcp": {"servers": {"s": {"command": "c"}}}}`, DialectVSCode},
		{"/w/.vscode/settings.json", `{"mcp.servers": {"s": {"command": "c"}}}`, DialectVSCode},
		{"/u/Code/User/settings.json", `{"mcp": {"servers": {"s": {"command": "c"}}, "inputs": []}}`, DialectVSCode},
		{"/w/w.code-workspace", `{"folders": [], "settings": {"mcp": {"servers": {"s": {"command": "c"}}}}}`, DialectVSCode},
		{"/w/.devcontainer/devcontainer.json",
			`{"customizations": {"vscode": {"mcp": {"servers": {"s": {"command": "c"}}}}}}`, DialectVSCode},
		{"/w/.devcontainer.json",
			`{"customizations": {"vscode": {"settings": {"mcp": {"servers": {"s": {"command": "c"}}}}}}}`, DialectVSCode},
		{"", `{"mcp": {"servers": {"s": {"command": "c"}}, "inputs": []}}`, DialectVSCode},
		{"", `{"mcp.servers": {"s": {"command": "c"}}}`, DialectVSCode},
		{"", `{"mcp": {"servers": {"s": {"type": "local", "command": ["c"]}}}}`, DialectOpencode},
		// The name counts before the keys.
		{"/w/.mcp.json", entries(`"autoApprove": []`), DialectPortable},
		{"/u/mcp_settings.json", entries(`"autoApprove": []`), DialectRoo},
		{"/u/cline_mcp_settings.json", entries(`"alwaysAllow": [], "timeouts": {}`), DialectCline},
		// By the key that holds the servers.
		{"", `{"servers": {"s": {"command": "c"}}}`, DialectVSCode},
		{"/w/.mcp.json", `{"servers": {"s": {"command": "c"}}}`, DialectVSCode},
		{"", mcp("local", `"command": ["c"]`), DialectOpencode},
		{"", mcp("remote", `"url": "https://example.com"`), DialectOpencode},
		{"", mcp("stdio", `"command": "c"`), DialectCrush},
		{"", mcp("http", `"url": "https://example.com"`), DialectCrush},
		// By the keys of the entries.
		{"", entries(`"remoteConfigured": true`), DialectCline},
		{"", `{"mcpServers": {"s": {"url": "https://example.com", "oauthClient": {"clientId": "c"}}}}`, DialectCline},
		{"", `{"mcpServers": {"s": {"transport": {"type": "stdio", "command": "c"}}}}`, DialectCline},
		{"f", entries(`"watchPaths": []`), DialectRoo},
		{"", entries(`"tools": ["*"], "timeout": 30000`), DialectPortable},
		{"", `{"mcpServers": {"s": {"httpUrl": "https://example.com"}}}`, DialectGemini},
		{"", entries(`"includeTools": ["x"]`), DialectGemini},
		{"", `{"mcpServers": {"s": {"serverUrl": "https://example.com"}}}`, DialectCursor},
		{"", entries(`"disabled": true, "watchPaths": []`), DialectRoo},
		// Nothing tells the dialect, or keys of several dialects contradict one another.
		{"", entries(`"alwaysAllow": ["x"]`), DialectMcpServers},
		{"", entries(`"autoApprove": ["x"], "timeout": 60000`), DialectMcpServers},
		{"/u/.kiro/settings/mcp.json", entries(`"autoApprove": ["x"], "disabledTools": [], "timeout": 60000`),
			DialectMcpServers},
		{"", entries(`"disabledTools": []`), DialectMcpServers},
		{"", entries(`"transportType": "stdio"`), DialectMcpServers},
		{"", `{"mcpServers": {"s": {"type": "streamable-http", "url": "https://example.com"}}}`, DialectMcpServers},
		{"", `{"mcpServers": {"s": {"type": "streamableHttp", "url": "https://example.com"}}}`, DialectMcpServers},
		{"", `{"mcpServers": {"s": {"url": "https://example.com", "transport": {"type": "http"}}}}`, DialectMcpServers},
		{"", entries(`"watchPaths": [], "remoteConfigured": true`), DialectMcpServers},
		{"", plain, DialectMcpServers},
		{"mcp.json", plain, DialectMcpServers},
		{"", entries(`"timeout": 60`), DialectMcpServers},
		{"", entries(`"tools": ["*"], "timeout": 60`), DialectMcpServers},
		{"", entries(`"timeout": 60000`), DialectMcpServers},
		{"", entries(`"alwaysAllow": [], "autoApprove": []`), DialectMcpServers},
		{"", entries(`"transport": "stdio"`), DialectMcpServers},
		{"", entries(`"disabled": true`), DialectMcpServers},
		// The hub's own keys.
		{"", entries(`"watchPaths": ["x"], "timeouts": {}`), DialectMcpServers},
		{"", entries(`"approvals": {}, "autoApprove": []`), DialectMcpServers},
	} {
		servers, problems := Load([]Source{{Path: tt.path, JSON: []byte(tt.text)}})
		if len(servers) != 1 || servers[0].Origin.Dialect != tt.want || slices.ContainsFunc(problems, func(p Problem) bool {
			return p.Fatal
		}) {
			t.Errorf("%q %s: %v, %v; want %s", tt.path, tt.text, servers, problems, tt.want)
		}
	}
	// "mcp" beside "mcpServers" holds settings of Gemini CLI or of another application, not servers.
	both := `{"mcpServers": {"s": {"command": "c", "trust": true}}, "mcp": {"excluded": ["s"], "x": {"type": "stdio", "command": "x"}}}`
	if servers, problems := Load([]Source{{Scope: "host", JSON: []byte(both)}}); len(servers) != 1 ||
		!servers[0].Disabled || problems != nil {
		t.Errorf("%v, %v", servers, problems)
	}
	// The dialect that the source names counts before all.
	for name := range dialects {
		src := inFile(name, goodEntry(name, "s"))
		src.Path = "/w/.roo/mcp.json"
		if servers, problems := Load([]Source{src}); len(servers) != 1 || servers[0].Origin.Dialect != name ||
			len(problems) != 0 {
			t.Errorf("%s: %v, %v", name, servers, problems)
		}
	}
	for path, toml := range map[string]bool{"/w/.codex/config.toml": true, "x.TOML": true, "x.json": false} {
		if isTOML(Source{Path: path}, dialectOfFile(path), []byte("{}")) != toml ||
			(dialectOfFile(path) == DialectCodex) != toml {
			t.Errorf("%s", path)
		}
	}
}

// Settings of an application without servers are no problem; a file that should have servers and has none is reported.
func TestSettingsWithoutServers(t *testing.T) {
	for _, path := range []string{".gemini/settings.json", "opencode.json", "crush.json", "claude_desktop_config.json",
		".claude.json", ".vscode/settings.json", ".devcontainer/devcontainer.json", "a.code-workspace"} {
		if servers,
			problems := Load([]Source{{Path: path,
			JSON: []byte(`{"theme": "dark", "servers": ["not ours"]}`)}}); servers != nil || problems != nil {
			t.Errorf("%s: %v, %v", path, servers, problems)
		}
	}
	for _, path := range []string{".mcp.json", ".roo/mcp.json", ".vscode/mcp.json", ""} {
		if _, problems := Load([]Source{{Path: path, JSON: []byte(`{"theme": "dark"}`)}}); len(problems) != 1 ||
			problems[0].Fatal || !strings.Contains(problems[0].Message, "no servers") {
			t.Errorf("%s: %v", path, problems)
		}
	}
	// Entries outside the object that holds the servers are reported, and not read.
	for path, want := range map[string]string{".mcp.json": `what looks like a server belongs into "mcpServers"`,
		".vscode/mcp.json": `belongs into "servers"`} {
		servers, problems := Load([]Source{{Path: path, JSON: []byte(`{"$schema": "x", "s": {"command": "c"}}`)}})
		if len(servers) != 0 || len(problems) != 1 || problems[0].Fatal || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %v, %v", path, servers, problems)
		}
	}
}

// Of the servers of one name, one of a workspace counts before one of the user, in whatever order the sources come;
// otherwise the later one counts. All has the others as shadowed.
func TestProjectOverUser(t *testing.T) {
	for order, want := range map[string]string{
		"user workspace":           "workspace1",
		"workspace user":           "workspace0",
		"workspace user user":      "workspace0",
		"workspace workspace user": "workspace1",
		"user user":                "user1",
		"user host":                "host1",
		"host user":                "user1",
		"host workspace user":      "workspace1",
		"workspace host user":      "host1",
		"workspace user host":      "host2",
		"user workspace host user": "host2",
		"user broken":              "user0",
		"workspace broken user":    "workspace0",
	} {
		var sources []Source
		for i, scope := range strings.Fields(order) {
			entry := fmt.Sprintf(`{"command": "%s%d"}`, scope, i)
			if scope == "broken" {
				scope, entry = "workspace", `{"command": 1}`
			}
			sources = append(sources, Source{
				Path: fmt.Sprint(i), Scope: scope, Folder: "/w", Trusted: scope == "host",
				JSON: fmt.Appendf(nil, `{"mcpServers": {"before%d": {"command": "c"}, "s": %s}}`, i, entry),
			})
		}
		servers, problems := Load(sources)
		all, same := All(sources)
		if diff := cmp.Diff(problems, same); diff != "" {
			t.Errorf("%s: Load and All tell different things: %s", order, diff)
		}
		sound := strings.Count(order, " ") + 1 - strings.Count(order, "broken")
		var winner Server
		var shadowed []Origin
		for _, s := range all {
			if s.Name != "s" {
				continue
			}
			if s.ShadowedBy == nil {
				winner = s
			} else {
				shadowed = append(shadowed, s.Origin)
			}
		}
		if winner.Command != want || len(shadowed) != sound-1 {
			t.Errorf("%s: %q counts, %d are shadowed", order, winner.Command, len(shadowed))
		}
		if diff := cmp.Diff(shadowed, winner.Shadows); diff != "" {
			t.Errorf("%s: shadows %s", order, diff)
		}
		for _, s := range all {
			if s.ShadowedBy != nil && (*s.ShadowedBy != winner.Origin || s.Shadows != nil) {
				t.Errorf("%s: %v is shadowed by %v", order, s.Origin, *s.ShadowedBy)
			}
			if o := s.Origin; o.Folder != "/w" || o.Trusted != (o.Scope == "host") {
				t.Errorf("%s: origin %+v", order, o)
			}
		}
		replaced := 0
		for _, p := range problems {
			if strings.Contains(p.Message, "is replaced by") {
				replaced++
			}
		}
		kept := slices.DeleteFunc(slices.Clone(all), func(s Server) bool { return s.ShadowedBy != nil })
		if diff := cmp.Diff(kept, servers); diff != "" || replaced != len(shadowed) {
			t.Errorf("%s: %d are told to be replaced\n%s", order, replaced, diff)
		}
	}
}
