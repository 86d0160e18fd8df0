package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/source"
)

// Commands add, change and remove a server and undo that, each with a line that says where.
func TestConfigWrites(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(map[string]string{"home/.cursor/mcp.json": "{\n  // mine\n  \"mcpServers\": {}\n}\n"})
	p.Setenv("MCPHUB_STATE_DIR", filepath.Join(p.Folder, "state"))
	cursor := filepath.Join(filepath.Dir(work), "home", ".cursor", "mcp.json")
	wantFile := func(path, want string) {
		t.Helper()
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s has %s (%v), want %s", path, text, err, want)
		}
	}
	run := func(status exit.Status, want string, args ...string) {
		t.Helper()
		got := p.Run(append([]string{"config"}, args...)...)
		if got.Status != status || !strings.Contains(got.Stdout+got.Stderr, want) {
			t.Errorf("config %q: status %d, %s%s; want %d with %q", args, got.Status, got.Stdout, got.Stderr, status, want)
		}
	}
	run(0, cursor+":4", "add", "files", "--env", "A=1", "--", "npx", "-y", "server", "--root", ".")
	const added = "{\n  // mine\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\",\n" +
		"      \"args\": [\"-y\", \"server\", \"--root\", \".\"],\n      \"env\": {\n        \"A\": \"1\"\n      }"
	wantFile(cursor, added+"\n    }\n  }\n}\n")
	run(1, "there is an entry of this name", "add", "files", "--url", "https://example.com/mcp")
	run(0, "is written", "set", "files", "--enabled", "false", "--allow", "read_*", "--timeout", "total=90s")
	wantFile(cursor, added+",\n      \"disabled\": true,\n      \"alwaysAllow\": [\"read_*\"],\n      \"timeouts\": {\n"+
		"        \"total\": \"90s\"\n      }\n    }\n  }\n}\n")
	run(0, `the last change of server "files" is undone: it is as before in `+cursor+":4", "undo")
	wantFile(cursor, added+"\n    }\n  }\n}\n")
	run(0, `"files" is no longer in `+cursor, "remove", "files")
	wantFile(cursor, "{\n  // mine\n  \"mcpServers\": {}\n}\n")
	run(1, "no config file", "remove", "files")

	toml := filepath.Join(work, "config.toml")
	run(0, toml+":1", "add", "tickets", "--file", toml, "--entry",
		`{"mcpServers": {"x": {"url": "https://example.com/mcp", "headers": {"X-A": "1"}, "alwaysAllow": ["a"]}}}`)
	wantFile(toml, "[mcp_servers.tickets]\nurl = \"https://example.com/mcp\"\n\n[mcp_servers.tickets.http_headers]\n"+
		"X-A = \"1\"\n")
	// undo takes back the write that made the file
	run(0, `the last change of server "tickets" is undone: it is no longer in `+toml, "undo")
	wantFile(toml, "")
}

// The examples of config add and config set that need neither a registry nor a bundle work where no application keeps
// servers yet, one after the other; without --file the error says what to name.
func TestConfigExamples(t *testing.T) {
	p := clitest.Inside(t)
	work := p.AtHome(nil)
	t.Chdir(work)
	p.Setenv("MCPHUB_STATE_DIR", filepath.Join(p.Folder, "state"))
	ran := 0
	for _, command := range []string{"add", "set"} {
		_, after, _ := strings.Cut(p.Run("help", "config", command).Stdout, "For example:\n")
		examples, _, _ := strings.Cut(after, "\n\n")
		for line := range strings.Lines(strings.ReplaceAll(examples, "\\\n", "")) {
			if strings.Contains(line, "--from-registry") || strings.Contains(line, "--bundle") {
				continue
			}
			words, err := source.Words("example", strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Run(words[1:]...); got.Status != exit.OK {
				t.Errorf("%s: status %d, %s", line, got.Status, got.Stderr)
			}
			ran++
		}
	}
	if ran != 4 {
		t.Errorf("%d examples were run, want 4", ran)
	}
	if got := p.Run("config", "add", "x", "--url", "https://example.com/mcp"); got.Status != exit.Broken ||
		!strings.Contains(got.Stderr, "--file FILE") {
		t.Errorf("add without a file: status %d, %s", got.Status, got.Stderr)
	}
}

func TestConfigWriteUsage(t *testing.T) {
	p := clitest.Inside(t)
	p.AtHome(nil)
	p.Setenv("MCPHUB_STATE_DIR", filepath.Join(p.Folder, "state"))
	for _, c := range []struct{ args, want string }{
		{"add", "NAME is missing"}, {"add s", "say what to add"}, {"add s --url https://x --entry {}", "say what to add"},
		{"add s --env A -- x", "it is NAME=VALUE"}, {"add s --entry {} --cwd /", "leave out the other flags"},
		{"set s", "say what to change"}, {"set s --enabled maybe", "true or false"}, {"set s --timeout total", "CLOCK=DURATION"},
		{"set s --allow a --deny a", "two policies"}, {"remove s --start", "for config check"}, {"undo x", "too many"},
	} {
		got := p.Run(append([]string{"config"}, strings.Fields(c.args)...)...)
		if got.Status != exit.Usage || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("config %s: status %d, %s", c.args, got.Status, got.Stderr)
		}
	}
	if got := p.Run("config", "undo"); got.Status != exit.Broken || !strings.Contains(got.Stderr, "no write") {
		t.Errorf("undo: %d %s", got.Status, got.Stderr)
	}
}
