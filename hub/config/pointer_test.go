package config

import "testing"

// A tool that edits the file finds the entry by its pointer, whatever its name holds and however deep it is.
func TestPointers(t *testing.T) {
	for _, tt := range []struct{ path, text, want string }{
		{".mcp.json", `{"mcpServers": {"s": {"command": "c"}}}`, "/mcpServers/s"},
		{".mcp.json", `{"mcpServers": {"a/b~c": {"command": "c"}}}`, "/mcpServers/a~1b~0c"},
		{".vscode/mcp.json", `{"servers": {"s": {"command": "c"}}}`, "/servers/s"},
		{"opencode.json", `{"mcp": {"servers": {"s": {"type": "local", "command": ["c"]}}}}`, "/mcp/servers/s"},
		{".codex/config.toml", "[mcp_servers.\"a.b\"]\ncommand = \"c\"\n", "/mcp_servers/a.b"},
		{".claude.json", `{"projects": {"/w": {"mcpServers": {"s": {"command": "c"}}}}}`, "/projects/~1w/mcpServers/s"},
	} {
		servers, problems := Load([]Source{{Path: tt.path, JSON: []byte(tt.text), Folder: "/w"}})
		if len(servers) != 1 || len(problems) != 0 || servers[0].Origin.Pointer != tt.want {
			t.Errorf("%s %s: %+v, %v; want %s", tt.path, tt.text, servers, problems, tt.want)
		}
	}
	servers,
		_ := Load([]Source{{Path: "mcp.json",
		JSON: []byte(`{"servers": {"s": {"command": "${input:b}"}}, "inputs": [1, {"id": "b", "type": "promptString"}]}`)}})
	if len(servers) != 1 || len(servers[0].Inputs) != 1 || servers[0].Inputs[0].Origin.Pointer != "/inputs/1" {
		t.Errorf("%+v", servers)
	}
}
