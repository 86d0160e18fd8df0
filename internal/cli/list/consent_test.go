package list_test

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// TestServersSaysWhoAsks: the list says which server needs consent before it starts, and --start asks for it.
func TestServersSaysWhoAsks(t *testing.T) {
	p := clitest.InBubbles(t)
	flags, record := clitest.FolderWithServer(&p.Settings)
	source := flags[:8]
	r := p.Run(append([]string{"servers"}, source...)...)
	if r.Status != 0 || !strings.Contains(r.Stdout, "stopped, asks before it starts") ||
		!strings.Contains(r.Stdout, "(vscode, workspace)") {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	r = p.Run(append([]string{"servers", "--start"}, source...)...)
	if r.Status != 6 || !strings.Contains(r.Stdout, "nobody could be asked") || clitest.Ran(t, record) {
		t.Errorf("--start: status %d, ran %v\n%s%s", r.Status, clitest.Ran(t, record), r.Stdout, r.Stderr)
	}
	r = p.Run(append([]string{"servers", "--start", "--launch", "allow", "--input", "token=x"}, source...)...)
	if r.Status != 0 || !strings.Contains(r.Stdout, "ready") || !clitest.Ran(t, record) {
		t.Errorf("--start --launch allow: status %d, ran %v\n%s%s", r.Status, clitest.Ran(t, record), r.Stdout, r.Stderr)
	}
}
