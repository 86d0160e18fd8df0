package main

import (
	"strings"
	"testing"
)

// TestCallTellsAFailureOnce: why a request failed is said by the last line alone, and not before it as well. Finding
// D9.
func TestCallTellsAFailureOnce(t *testing.T) {
	p := build(t)
	commandLine, _ := p.demoServer()
	r := p.run("call", "--stdio", commandLine, "--tool", "slep", "--approve", "allow")
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	if r.status != exitUsage || strings.Count(r.stderr, `has no tool "slep"`) != 1 ||
		!strings.Contains(lines[len(lines)-1], `did you mean "sleep"?`) {
		t.Errorf("status %d:\n%s", r.status, r.stderr)
	}
}
