package call_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// TestCallReadsDialects: a server of another application's config file can be called, with the command as the
// dialect writes it, also where the file's name alone says which it is. References in the file of VS Code to the
// workspace folder are resolved.
func TestCallReadsDialects(t *testing.T) {
	p := clitest.InBubbles(t)
	quoted := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	command := quoted(p.Binary)
	record := filepath.Join(p.Folder, "record-${workspaceFolderBasename}.jsonl")
	files := map[string]struct{ name, text string }{
		"vscode": {"vscode.json",
			fmt.Sprintf(`{"servers": {"srv": {"type": "stdio", "command": %s, "args": ["demo-server", "--record", %s]}}}`,
				command, quoted(record))},
		"codex": {"config.toml", fmt.Sprintf("[mcp_servers.srv]\ncommand = %s\nargs = [\"demo-server\"]\n",
			command)},
		"opencode": {"opencode.json", fmt.Sprintf(`{"mcp": {"srv": {"type": "local", "command": [%s, "demo-server"]}}}`,
			command)},
	}
	// The golden files of package config hold every dialect; these three are written most differently.
	for _, dialect := range []string{"vscode", "codex", "opencode"} {
		f := files[dialect]
		file := p.Config(f.name, f.text)
		r := p.Run("call", "--config", file, "--dialect", dialect, "--folder", p.Folder, "--server", "srv", "--tool", "echo",
			"--args", fmt.Sprintf(`{"text":"in %s"}`, dialect), "--approve", "allow")
		if r.Status != 0 || strings.TrimSpace(r.Stdout) != "in "+dialect {
			t.Errorf("%s: status %d, stdout %q, stderr\n%s", dialect, r.Status, r.Stdout, r.Stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(p.Folder, "record-"+filepath.Base(p.Folder)+".jsonl")); err != nil {
		t.Errorf("the file of VS Code does not know the folder: %v", err)
	}
	for _, dialect := range []string{"codex", "opencode"} {
		r := p.Run("tools", "srv", "--config", filepath.Join(p.Folder, files[dialect].name))
		if r.Status != 0 || !strings.Contains(r.Stdout, "echo") {
			t.Errorf("%s, without --dialect: status %d, stderr\n%s", dialect, r.Status, r.Stderr)
		}
	}
}

// TestEraOfAnyDialect: --era reaches the entry in every dialect.
func TestEraOfAnyDialect(t *testing.T) {
	p := clitest.InBubbles(t)
	for name, text := range map[string]string{
		"opencode.json": fmt.Sprintf(`{"mcp": {"srv": {"type": "local", "command": [%q, "demo-server"]}}}`, p.Binary),
		"config.toml":   fmt.Sprintf("[mcp_servers.srv]\ncommand = %q\nargs = [\"demo-server\"]\n", p.Binary),
		"servers.json":  fmt.Sprintf(`{"servers": {"srv": {"command": %q, "args": ["demo-server"]}}}`, p.Binary),
	} {
		r := p.Run("tools", "srv", "--json", "--era", "legacy", "--config", p.Config(name, text))
		if r.Status != 0 || !strings.Contains(r.Stdout, "ask_then_withdraw") {
			t.Errorf("%s: status %d, stderr\n%s", name, r.Status, r.Stderr)
		}
	}
}
