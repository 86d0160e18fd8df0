package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Paths of more than 260 characters, with blanks and letters beyond ASCII, are read as any others: the file of a
// config, what it names, and the working directory. Windows has that limit for programs without extended paths.
func TestLongPaths(t *testing.T) {
	dir := t.TempDir()
	for len(dir) < 400 {
		dir = filepath.Join(dir, strings.Repeat("ü b", 20))
	}
	file := filepath.Join(dir, "mcp.json")
	putFile(t, file, `{"servers": {"s": {"command": "c", "cwd": "sub", "envFile": "${workspaceFolder}/s.env"}}}`)
	putFile(t, filepath.Join(dir, "s.env"), "A=1\r\nB=\"two\r\nlines\"\r\n")
	servers, problems := Load([]Source{{Path: file, Dialect: DialectVSCode, Folder: dir, Scope: "workspace"}})
	if len(problems) != 0 || len(servers) != 1 {
		t.Fatalf("%v, %v", servers, problems)
	}
	r, err := servers[0].Resolve(Variables{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Dir != filepath.Join(dir, "sub") {
		t.Errorf("working directory %q", r.Dir)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "two\nlines"}, map[string]string{"A": *r.Env["A"],
		"B": *r.Env["B"]}); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, problems = Load([]Source{{Path: file, Dialect: DialectVSCode}}); len(problems) > 1 {
		t.Errorf("%v", problems)
	}
}
