package mcp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config"
)

// TestThisCommand_real: what an entry runs says whether it is mcphub mcp: the command, by its file's name or as another
// path to the same file, and the first argument.
func TestThisCommand_real(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "hub")
	linked := os.Symlink(own, link) == nil // links need a privilege on Windows
	if linked {                            // and lead nowhere for some programs under Wine
		a, err1 := os.Stat(link)
		b, err2 := os.Stat(own)
		linked = err1 == nil && err2 == nil && os.SameFile(a, b)
	}
	for _, c := range []struct {
		command string
		args    []string
		scope   string
		want    bool
	}{
		{"mcphub", []string{"mcp"}, "user", true},
		{"mcphub", []string{"mcp", "--config", "x"}, "workspace", true},
		{"/opt/bin/mcphub", []string{"mcp"}, "user", true},
		{`C:\tools\McpHub.EXE`, []string{"mcp"}, "host", true},
		{"${userHome}/bin/mcphub", []string{"mcp"}, "user", true},
		{own, []string{"mcp"}, "user", true},
		{link, []string{"mcp"}, "user", linked},
		{link, []string{"mcp"}, "workspace", false}, // a folder's path is not looked at
		{"mcphub", []string{"demo-server"}, "user", false},
		{"mcphub", nil, "user", false},
		{own, []string{"demo-server"}, "user", false},
		{"my-mcphub", []string{"mcp"}, "user", false},
		{"", []string{"mcp"}, "user", false},
	} {
		s := config.Server{Name: "mcphub", Command: c.command, Args: c.args, Origin: config.Origin{Scope: c.scope}}
		if got := thisCommand(s) != ""; got != c.want {
			t.Errorf("%q %q of %s: %v", c.command, c.args, c.scope, got)
		}
	}
}
