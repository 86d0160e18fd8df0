//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfigCheckAsksTheLoginShell_real: a program that only the login shell's PATH has is found; when the shell fails,
// the problem names the shell.
func TestConfigCheckAsksTheLoginShell_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	p.atHome(nil)
	folder := filepath.Join(p.dir, "of the shell")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(folder, "shell-has-it"), "#!/bin/sh\n")
	shell := filepath.Join(p.dir, "shell")
	p.setenv("SHELL", shell)
	file := p.config("mcp.json", `{"mcpServers": {"s": {"command": "shell-has-it"}}}`)
	write(shell, "#!/bin/sh\nPATH=\"$PATH:"+folder+"\"; export PATH; shift 3; eval \"$1\"\n")
	if r := p.run("config", "check", file); r.status != 0 || !strings.Contains(r.stdout, "1 ok") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	write(shell, "#!/bin/sh\nexit 3\n")
	if r := p.run("config", "check", file); r.status != 1 || !strings.Contains(r.stdout, "the login shell "+shell) {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}
