//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// TestConfigCheckAsksTheLoginShell_real: a program that only the login shell's PATH has is found; when the shell fails,
// the problem names the shell.
func TestConfigCheckAsksTheLoginShell_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	p.AtHome(nil)
	folder := filepath.Join(p.Folder, "of the shell")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(folder, "shell-has-it"), "#!/bin/sh\n")
	shell := filepath.Join(p.Folder, "shell")
	p.Setenv("SHELL", shell)
	file := p.Config("mcp.json", `{"mcpServers": {"s": {"command": "shell-has-it"}}}`)
	write(shell, "#!/bin/sh\nPATH=\"$PATH:"+folder+"\"; export PATH; shift 3; eval \"$1\"\n")
	if r := p.Run("config", "check", file); r.Status != 0 || !strings.Contains(r.Stdout, "1 ok") {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	write(shell, "#!/bin/sh\nexit 3\n")
	if r := p.Run("config", "check", file); r.Status != 1 || !strings.Contains(r.Stdout, "the login shell "+shell) {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
}
