package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNarrow_real: no line is wider than a terminal of 60 columns, unless it has a word that does not fit, or
// is a command line to paste.
func TestNarrow_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	file := p.config("mcp.json", fmt.Sprintf(`{"mcpServers": {
		"demo": {"command": %q, "args": ["demo-server"], "timeout": 60000},
		"with-quite-a-long-name-of-a-server": {"command": "npx -y server", "args": ["stdio", "--flag", "and-a-value"]},
		"gone": {"command": "sh", "args": ["-c", "echo 'Error: the key FOO_KEY is not set, and nothing works without it' >&2; exit 1"]},
		"remote": {"url": "https://mcp.example.com/some/path"}}}`, p.path))
	trace := p.config("trace.json", bundleOfTests)
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
		{"call", file, "demo", "echo", "-a", "text=hello", "--approve", "allow"},
		{"call", file, "demo", "slep"},
		{"call", file, "gone", "x"},
		{"call", file, "demo", "sleep", "--no-such-flag"},
		{"trace", trace},
		{"help", "call"},
	} {
		term := p.onTerminalOf(columns, []string{"TERM=xterm", "NO_COLOR=1"}, args...)
		status := term.wait()
		screen := term.said.String()
		// The line that shows progress is cut to the terminal when it is drawn.
		for line := range strings.SplitSeq(strings.ReplaceAll(screen, clearLine, "\n"), "\n") {
			line = strings.TrimRight(line, "\r")
			if columnsOf(line) > columns && strings.Contains(strings.TrimLeft(line[:min(len(line), columns)], " "), " ") &&
				!strings.HasPrefix(line, "  mcphub ") { // what can be pasted stays whole
				at := strings.LastIndexByte(line, ' ')
				if columnsOf(line[at+1:]) <= columns-columnOfFirstWord(line) {
					t.Errorf("mcphub %s: %d columns: %q", strings.Join(args, " "), columnsOf(line), line)
				}
			}
		}
		if status > exitServer {
			t.Errorf("mcphub %s: status %d\n%s", strings.Join(args, " "), status, screen)
		}
	}
}

// columnOfFirstWord is where a continued line of the same paragraph would begin at most.
func columnOfFirstWord(line string) int {
	return len(line) - len(strings.TrimLeft(line, " ")) + 2
}

// TestTableOnATerminal: a table that does not fit becomes lines of title and cell, with its colours; a path is never
// cut; a pipe gets all of it in columns.
func TestTableOnATerminal(t *testing.T) {
	servers := table{header: []string{"NAME", "STATE", "PROBLEM"}, colour: colourOfState, rows: [][]string{
		{"a-server-with-a-name", "ready", "-"},
		{"b", "failed", "it did not start: the key is not set"},
	}}
	paths := table{header: []string{"SCOPE", "FILE"}, whole: true, rows: [][]string{
		{"user", "/srv/u/.config/Code/User/mcp.json"}, {"workspace", ".mcp.json"}}}
	for name, test := range map[string]struct {
		table   table
		width   int
		colours bool
		want    string
	}{
		"a pipe": {servers, 0, false, `NAME                  STATE   PROBLEM
a-server-with-a-name  ready   -
b                     failed  it did not start: the key is not set
`},
		"wide": {servers, 60, false, `NAME                  STATE   PROBLEM
a-server-with-a-name  ready   -
b                     failed  it did not start: the key is…
`},
		"narrow": {servers, 40, false, `NAME     a-server-with-a-name
STATE    ready

NAME     b
STATE    failed
PROBLEM  it did not start: the key is
         not set
`},
		"narrow, with colours": {table{header: servers.header, rows: servers.rows[1:],
			colour: func(int, string) string { return red }}, 24, true,
			"\x1b[1mNAME\x1b[0m     \x1b[31mb\x1b[0m\n\x1b[1mSTATE\x1b[0m    \x1b[31mfailed\x1b[0m\n" +
				"\x1b[1mPROBLEM\x1b[0m  \x1b[31mit did not\x1b[0m\n         \x1b[31mstart: the key\x1b[0m\n" +
				"         \x1b[31mis not set\x1b[0m\n"},
		"paths that fit": {paths, 50, false, `SCOPE      FILE
user       /srv/u/.config/Code/User/mcp.json
workspace  .mcp.json
`},
		"paths that do not fit": {paths, 40, false, `SCOPE
  FILE
user
  /srv/u/.config/Code/User/mcp.json
workspace
  .mcp.json
`},
		"characters of two columns": {table{header: []string{"NAME", "ABOUT"},
			rows: [][]string{{"日本", "a"}, {"abc", "b"}}}, 40, false, "NAME  ABOUT\n日本  a\nabc   b\n"},
	} {
		var out bytes.Buffer
		test.table.writeWithin(&out, test.width, test.colours)
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
