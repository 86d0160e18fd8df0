package main

import (
	"os"
	"strings"
	"testing"
)

// Finding D7: a full disk makes a command fail with a line that says so. (A standard output that was closed before the
// start is no such case: Go opens the null device in its place.)
func TestOutputThatCannotBeWritten_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	line, _ := p.demoServer()
	p.setenv("MCPHUB_STATE_DIR", p.dir)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{
		{"version"}, {"help"}, {"help", "call"}, {"call", "--help"}, {"completion", "bash"}, {"docs", "markdown"},
		{"config", "places"}, {"config", "places", "--json"}, {"tools", "--stdio", line},
		{"call", "--stdio", line, "--tool", "echo", "--args", `{"text":"x"}`, "--approve", "allow"},
	} {
		var said strings.Builder
		cmd := p.command(args...)
		cmd.Stdout, cmd.Stderr = full, &said
		_ = cmd.Run() // its status is checked below
		if status := cmd.ProcessState.ExitCode(); status != exitServer ||
			!strings.Contains(said.String(), "the output could not be written: ") {
			t.Errorf("mcphub %q: status %d\n%s", args, status, said.String())
		}
	}
}
