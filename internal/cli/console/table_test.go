package console

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTableOnATerminal: a table that does not fit becomes lines of title and cell, with its colours; a path is never
// cut; a pipe gets all of it in columns.
func TestTableOnATerminal(t *testing.T) {
	servers := Table{Header: []string{"NAME", "STATE", "PROBLEM"}, Rows: [][]string{
		{"a-server-with-a-name", "ready", "-"},
		{"b", "failed", "it did not start: the key is not set"},
	}}
	paths := Table{Header: []string{"SCOPE", "FILE"}, Whole: true, Rows: [][]string{
		{"user", "/srv/u/.config/Code/User/mcp.json"}, {"workspace", ".mcp.json"}}}
	for name, test := range map[string]struct {
		table   Table
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
		"narrow, with colours": {Table{Header: servers.Header, Rows: servers.Rows[1:],
			Colour: func(int, string) string { return Red }}, 24, true,
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
		"characters of two columns": {Table{Header: []string{"NAME", "ABOUT"},
			Rows: [][]string{{"日本", "a"}, {"abc", "b"}}}, 40, false, "NAME  ABOUT\n日本  a\nabc   b\n"},
	} {
		var out bytes.Buffer
		test.table.writeWithin(&out, test.width, test.colours)
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
