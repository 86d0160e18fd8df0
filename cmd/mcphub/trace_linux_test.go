package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTraceOfACancel_real: the timeline of a call that was cancelled has the notification to the server. The cancel
// waits for the tool's progress and not for a clock.
func TestTraceOfACancel_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	line, _ := p.demoServer()
	file := filepath.Join(t.TempDir(), "trace.json")
	r, lines, _ := p.sleepingOn(t, "--stdio", line, "--trace", file)
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Fatal(err)
	}
	if status := r.wait(); status != 3 {
		t.Fatalf("status %d\n%s", status, r.stderr.String())
	}
	shown := p.run("trace", file)
	for _, want := range []string{"<- notification  notifications/progress", "cancelled by user: \"interrupted\"",
		"-> notification  notifications/cancelled", "error CANCELLED"} {
		if !strings.Contains(shown.stdout, want) {
			t.Errorf("mcphub trace does not show %q:\n%s", want, shown.stdout)
		}
	}
}
