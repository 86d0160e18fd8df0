package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServersWatch_real: after the list each change is printed as it comes, a new entry in the file too, until an
// interrupt.
func TestServersWatch_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	file := p.config("mcp.json", `{"mcpServers": {"one": {"command": "a"}}}`)
	r := p.start("servers", "--watch", "--config", file)
	lines := bufio.NewScanner(r.stdout)
	wait := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("it ended without %q\n%s", want, r.stderr.String())
	}
	wait("one ")
	next := filepath.Join(p.dir, "next.json")
	if err := os.WriteFile(next, []byte(`{"mcpServers": {"one": {"command": "a"}, "two": {"command": "b"}}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	wait("two: stopped")
	wait("config: " + file + " changed")
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if status := r.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, r.stderr.String())
	}
}

// TestServersWatchEndsWithTheHub_real: when the hub is killed, the command ends with an error that says so.
func TestServersWatchEndsWithTheHub_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	r := p.start("servers", "--watch", "--config", p.config("mcp.json", `{"mcpServers": {"one": {"command": "a"}}}`))
	for lines := bufio.NewScanner(r.stdout); lines.Scan() && !strings.Contains(lines.Text(), "one "); {
	}
	if err := syscall.Kill(childOf(t, p, r.cmd.Process.Pid), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if status := r.wait(); status != 6 || !strings.Contains(r.stderr.String(), "the window ended") {
		t.Errorf("status %d\n%s", status, r.stderr.String())
	}
}
