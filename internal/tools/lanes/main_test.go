package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var wanted = regexp.MustCompile(`// want (.*)$`)

// The module has a line with "// want", and with the tests that reach it, wherever something is to be found.
func TestFound(t *testing.T) {
	module, err := txtar.ParseFile("testdata/module.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	want := map[string]string{} // by file and line
	for _, f := range module.Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(f.Data), "\n") {
			if m := wanted.FindStringSubmatch(line); m != nil {
				want[fmt.Sprintf("%s:%d", f.Name, i+1)] = m[1]
			}
		}
	}
	found, err := examine(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		parts := strings.SplitN(f, ": ", 2)
		text, expected := want[parts[0]]
		delete(want, parts[0])
		if kind, tests, _ := strings.Cut(text, " in "); !expected || !strings.HasPrefix(parts[1], kind) ||
			!strings.HasSuffix(f, " ("+tests+")") {
			t.Errorf("%s\nwant %q", f, text)
		}
	}
	for at, text := range want {
		t.Errorf("%s: %s was not found", at, text)
	}
}
