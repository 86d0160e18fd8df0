package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestNarrow_real: no line is wider than a terminal of 60 columns, unless it has a word that does not fit, or
// is a command line to paste.
func TestNarrow_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	file := p.Config("mcp.json", fmt.Sprintf(`{"mcpServers": {
		"demo": {"command": %q, "args": ["demo-server"], "timeout": 60000},
		"with-quite-a-long-name-of-a-server": {"command": "npx -y server", "args": ["stdio", "--flag", "and-a-value"]},
		"gone": {"command": "sh", "args": ["-c", "echo 'Error: the key FOO_KEY is not set, and nothing works without it' >&2; exit 1"]},
		"remote": {"url": "https://mcp.example.com/some/path"}}}`, p.Binary))
	trace := filepath.Join(p.Folder, "trace.json")
	const columns = 60
	for _, args := range [][]string{
		{"servers", file},
		{"config", "check", file},
		{"config", "places"},
		{"tools", "demo", file},
		{"tools", "demo", "sleep", file},
		{"tools", "gone", file},
		{"doctor", "demo", file},
		{"doctor", "gone", file},
		{"call", file, "demo", "echo", "-a", "text=hello", "--approve", "allow", "--trace", trace},
		{"call", file, "demo", "slep"},
		{"call", file, "gone", "x"},
		{"call", file, "demo", "sleep", "--no-such-flag"},
		{"trace", trace},
		{"help", "call"},
	} {
		term := p.OnTerminalOf(columns, []string{"TERM=xterm", "NO_COLOR=1"}, args...)
		status := term.Wait()
		screen := term.Said.String()
		// The line that shows progress is cut to the terminal when it is drawn.
		for line := range strings.SplitSeq(strings.ReplaceAll(screen, "\r\x1b[K", "\n"), "\n") {
			line = strings.TrimRight(line, "\r")
			begin := strings.TrimLeft(line[:min(len(line), columns)], " ")
			if console.ColumnsOf(line) > columns && strings.Contains(begin, " ") &&
				!strings.HasPrefix(line, "  mcphub ") { // what can be pasted stays whole
				at := strings.LastIndexByte(line, ' ')
				if console.ColumnsOf(line[at+1:]) <= columns-columnOfFirstWord(line) {
					t.Errorf("mcphub %s: %d columns: %q", strings.Join(args, " "), console.ColumnsOf(line), line)
				}
			}
		}
		if status > exit.Server {
			t.Errorf("mcphub %s: status %d\n%s", strings.Join(args, " "), status, screen)
		}
	}
}

// columnOfFirstWord is where a continued line of the same paragraph would begin at most.
func columnOfFirstWord(line string) int {
	return len(line) - len(strings.TrimLeft(line, " ")) + 2
}
