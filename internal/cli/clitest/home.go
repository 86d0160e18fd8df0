package clitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// FolderWithServer makes a workspace folder with a config file that has the demo server, with a secret in its
// arguments. The server writes a record once it runs.
func FolderWithServer(p *Settings) (flags []string, record string) {
	p.T.Helper()
	record = filepath.Join(p.Folder, "ran.jsonl")
	text, err := json.Marshal(map[string]any{
		"inputs": []any{map[string]any{"id": "token", "type": "promptString", "description": "Your token", "password": true}},
		"servers": map[string]any{"srv": map[string]any{
			"command": p.Binary, "args": []string{"demo-server", "--record", "${workspaceFolder}/ran.jsonl", "--greet",
				"token ${input:token}"},
		}},
	})
	if err != nil {
		p.T.Fatal(err)
	}
	return []string{"--config", p.Config("mcp.json", string(text)), "--dialect", "vscode", "--scope", "workspace",
		"--folder", p.Folder, "--server", "srv",
		"--tool", "echo", "--args", `{"text":"hi"}`, "--approve", "allow"}, record
}

// Ran reports whether the server with this record was started.
func Ran(t *testing.T, record string) bool {
	t.Helper()
	_, err := os.Stat(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// AtHome gives the program a home, and a workspace folder, of the test's own, with these files; a name begins with
// home/ or project/.
func (s *Settings) AtHome(files map[string]string) (work string) {
	s.T.Helper()
	home, work := filepath.Join(s.Folder, "home"), filepath.Join(s.Folder, "project")
	for _, dir := range []string{home, work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.T.Fatal(err)
		}
	}
	for name, text := range files {
		file := filepath.Join(s.Folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			s.T.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			s.T.Fatal(err)
		}
	}
	s.Programs("docs-server", "node", "npx", "srv", "a")
	s.Setenv("SHELL", "/bin/sh")
	s.Setenv("HOME", home)
	s.Setenv("USERPROFILE", home)
	s.Setenv("APPDATA", filepath.Join(home, "AppData", "Roaming"))
	s.Setenv("LOCALAPPDATA", filepath.Join(home, "AppData", "Local"))
	for _, name := range []string{"XDG_CONFIG_HOME", "CODEX_HOME", "GEMINI_CLI_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME",
		"OPENCODE_CONFIG", "CRUSH_GLOBAL_CONFIG"} {
		s.Setenv(name, "")
	}
	return work
}

// Programs puts programs of these names, which do nothing, in a folder that is first in the PATH.
func (s *Settings) Programs(names ...string) {
	s.T.Helper()
	bin := filepath.Join(s.Folder, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		s.T.Fatal(err)
	}
	for _, name := range names {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			s.T.Fatal(err)
		}
	}
	s.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// ListConfig has one server that works, one whose entry is broken, one that cannot start, and one that is switched off.
func ListConfig(p *Commands) string {
	return p.Config("mcp.json", fmt.Sprintf(`{
  // a comment
  "mcpServers": {
    "good": {"command": %q, "args": ["demo-server"], "alwaysAllow": ["echo"]},
    "broken": {"args": ["no command"]},
    "missing": {"command": %q},
    "off": {"command": %q, "disabled": true},
  }
}`, p.Binary, filepath.Join(p.Folder, "no-server"), p.Binary))
}
