package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoPlays_real: without a terminal the whole script plays, each step says ok, and no process is left (see build).
func TestDemoPlays_real(t *testing.T) {
	t.Parallel()
	r := build(t).run("demo")
	if r.status != 0 {
		t.Fatalf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if got := strings.Count(r.stdout, "\n    ok "); got != len(scenes) {
		t.Errorf("%d steps say ok, want %d\n%s", got, len(scenes), r.stdout)
	}
	rest := r.stdout
	for i, s := range scenes {
		_, after, ok := strings.Cut(rest, fmt.Sprintf("\n%2d  %s\n", i+1, s.title))
		if !ok {
			t.Errorf("step %d, %s, is missing or out of order\n%s", i+1, s.title, r.stdout)
		}
		rest = after
	}
	if strings.Contains(r.stdout, "\x1b") {
		t.Error("colour without a terminal")
	}
}

// TestDemoSaysWhatWentWrong: a demo that cannot play fails and says why.
func TestDemoSaysWhatWentWrong(t *testing.T) {
	p := inside(t)
	for _, name := range []string{"TMPDIR", "TMP"} { // TMP is Windows's
		p.setenv(name, filepath.Join(p.dir, "nowhere"))
	}
	r := p.run("demo")
	if r.status != 1 || !strings.Contains(r.stderr, "nowhere") {
		t.Errorf("status %d, stderr %q", r.status, r.stderr)
	}
}
