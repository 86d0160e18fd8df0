package demo_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/demo"
)

// TestDemoPlays_real: without a terminal the whole script plays, each step says ok, and no process is left (see build).
func TestDemoPlays_real(t *testing.T) {
	t.Parallel()
	r := clitest.Build(t).Run("demo")
	if r.Status != 0 {
		t.Fatalf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	if got := strings.Count(r.Stdout, "\n    ok "); got != len(demo.Titles()) {
		t.Errorf("%d steps say ok, want %d\n%s", got, len(demo.Titles()), r.Stdout)
	}
	rest := r.Stdout
	for i, title := range demo.Titles() {
		_, after, ok := strings.Cut(rest, fmt.Sprintf("\n%2d  %s\n", i+1, title))
		if !ok {
			t.Errorf("step %d, %s, is missing or out of order\n%s", i+1, title, r.Stdout)
		}
		rest = after
	}
	if strings.Contains(r.Stdout, "\x1b") {
		t.Error("colour without a terminal")
	}
}

// TestDemoSaysWhatWentWrong: a demo that cannot play fails and says why.
func TestDemoSaysWhatWentWrong(t *testing.T) {
	p := clitest.Inside(t)
	for _, name := range []string{"TMPDIR", "TMP"} { // TMP is Windows's
		p.Setenv(name, filepath.Join(p.Folder, "nowhere"))
	}
	r := p.Run("demo")
	if r.Status != 1 || !strings.Contains(r.Stderr, "nowhere") {
		t.Errorf("status %d, stderr %q", r.Status, r.Stderr)
	}
}
