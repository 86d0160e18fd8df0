package config_test

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/source"
)

// marked holds for each dialect a file with "s3cret" in every place that may hold a secret: arguments, variables,
// headers, queries, user information, sign-ins, and values of the wrong type or below keys that are not known.
var marked = map[string]string{
	"vscode": `{"inputs": [{"id": "k", "type": "promptString", "password": true, "default": "s3cret-default"}],
  "servers": {
    "local": {"command": "srv", "args": ["--token=s3cret", "${input:k}"], "env": {"A": "s3cret", "B": ["s3cret"]}, "unknown": "s3cret"},
    "fine": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}, "oauth": {"clientSecret": "s3cret"}},
    "far": {"type": "http", "url": "https://a.example/mcp?key=s3cret", "headers": {"Authorization": "Bearer s3cret", "X": 7}},
    "user": {"url": "https://me:s3cret@a.example/mcp"}
  }}`,
	"portable": `{"mcpServers": {
    "local": {"command": "srv", "args": ["s3cret", "${TOKEN:-s3cret}"], "env": {"A": "s3cret"}, "colour": {"deep": "s3cret"}},
    "far": {"type": "http", "url": "https://a.example/mcp?key=s3cret#s3cret", "headers": {"Authorization": "Bearer s3cret"}, "oauth": {"clientId": "id", "clientSecret": "s3cret"}},
    "frag": {"type": "sse", "url": "https://a.example/mcp?key=s3cret", "headers": {"bad name": "s3cret"}}
  }}`,
	"roo": `{"mcpServers": {
    "local": {"command": "srv", "args": ["s3cret", 7], "env": {"A": "s3cret"}, "alwaysAllow": ["read"]},
    "fine": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}, "timeout": 60},
    "far": {"type": "streamable-http", "url": "https://a.example/mcp?key=s3cret", "headers": {"Authorization": "Bearer s3cret"}}
  }}`,
	"cline": `{"mcpServers": {
    "local": {"transport": {"type": "stdio", "command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}}},
    "far": {"transport": {"type": "streamableHttp", "url": "https://a.example/mcp?key=s3cret", "headers": {"A": "s3cret"}},
      "oauth": {"tokens": {"access_token": "s3cret"}, "codeVerifier": "s3cret"}, "oauthClient": {"clientId": "id", "clientSecret": "s3cret"}}
  }}`,
	"claude-desktop": `{"mcpServers": {
    "local": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret", "B": {"C": "s3cret"}}},
    "fine": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}},
    "odd": {"command": "srv", "extra": "s3cret"}
  }}`,
	"cursor": `{"mcpServers": {
    "local": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}, "envFile": 7},
    "fine": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}},
    "far": {"url": "https://a.example/mcp?key=s3cret", "headers": {"A": "s3cret"}, "auth": {"CLIENT_ID": "id", "CLIENT_SECRET": "s3cret"}}
  }}`,
	"gemini": `{"mcpServers": {
    "local": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}, "timeout": "s3cret"},
    "fine": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}},
    "far": {"httpUrl": "https://a.example/mcp?key=s3cret", "headers": {"A": "s3cret"},
      "oauth": {"enabled": true, "clientId": "id", "clientSecret": "s3cret"}}
  }}`,
	"codex": `[mcp_servers.local]
command = "srv"
args = ["s3cret"]
colour = "s3cret"
[mcp_servers.local.env]
A = "s3cret"
[mcp_servers.far]
url = "https://a.example/mcp?key=s3cret"
http_headers = { "A" = "s3cret" }
bearer_token = "s3cret"
[mcp_servers.bad]
command = "srv"
args = "s3cret"
`,
	"opencode": `{"mcp": {
    "local": {"type": "local", "command": ["srv", "s3cret"], "environment": {"A": "s3cret"}},
    "far": {"type": "remote", "url": "https://a.example/mcp?key=s3cret", "headers": {"A": "s3cret"}, "oauth": {"clientId": "id", "clientSecret": "s3cret"}},
    "bad": {"type": "local", "command": "s3cret"}
  }}`,
	"crush": `{"mcp": {
    "local": {"type": "stdio", "command": "srv", "args": ["s3cret", "$(echo s3cret)"], "env": {"A": "s3cret", "B": "$(s3cret)"}},
    "far": {"type": "http", "url": "https://a.example/mcp?key=s3cret", "headers": {"A": "s3cret"}},
    "bad": {"type": "stdio", "command": "srv", "args": {"a": "s3cret"}}
  }}`,
	"mcpServers": `{"mcpServers": {
    "local": {"command": "srv", "args": ["s3cret"], "env": {"A": "s3cret"}, "approvals": {"*": "ask"}},
    "far": {"url": "https://a.example/mcp?key=s3cret", "headers": {"A": "s3cret"},
      "oauth": {"clientSecret": "s3cret", "privateKeyPem": "s3cret", "workloadToken": "s3cret", "idp": {"idToken": "s3cret"}}}
  }}`,
}

// TestConfigCheckShowsNoSecrets: no secret is shown, in any dialect and in any form of the output.
func TestConfigCheckShowsNoSecrets(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(nil)
	for _, dialect := range source.Dialects {
		text, ok := marked[dialect]
		if !ok {
			t.Errorf("there is no file for %s", dialect)
			continue
		}
		name := dialect + ".json"
		if dialect == "codex" {
			name = dialect + ".toml"
		}
		file := p.Config(name, text)
		for _, form := range []string{"--verbose", "--json"} {
			r := p.Run("config", "check", form, "--folder", work, "--dialect", dialect, file)
			if r.Status == 2 || !strings.Contains(r.Stdout, "local") {
				t.Errorf("%s %s: status %d\n%s%s", dialect, form, r.Status, r.Stdout, r.Stderr)
			}
			for line := range strings.Lines(r.Stdout + r.Stderr) {
				if i := strings.Index(line, "s3cret"); i >= 0 {
					t.Errorf("%s %s shows a secret: …%s", dialect, form, line[max(0, i-100):min(len(line), i+20)])
				}
			}
		}
	}
}
