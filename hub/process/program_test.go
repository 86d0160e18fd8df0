//go:build unix

package process

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toolbox makes a folder with a program, a link to it, and a file that is not executable.
func toolbox(t *testing.T) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"real": 0o700, "text": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho real\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real", filepath.Join(dir, "tool")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Finding C1: Find finds what Start would start: by the PATH of the child, by its directory, through links.
func TestFind(t *testing.T) {
	dir := toolbox(t)
	for name, tt := range map[string]struct {
		command Command
		want    Program
		fails   string
	}{
		"entry's PATH": {Command{Path: "tool", Env: []string{"PATH=/nowhere:" + dir + ":/bin"}},
			Program{dir + "/tool", dir + "/real"}, ""},
		"no link":       {Command{Path: "real", Env: []string{"PATH=" + dir}}, Program{dir + "/real", dir + "/real"}, ""},
		"directory":     {Command{Path: "./tool", Dir: dir}, Program{dir + "/tool", dir + "/real"}, ""},
		"absolute":      {Command{Path: dir + "/tool", Dir: "/"}, Program{dir + "/tool", dir + "/real"}, ""},
		"not found":     {Command{Path: "tool", Env: []string{"PATH=/nowhere"}}, Program{}, "not found in the PATH"},
		"no PATH":       {Command{Path: "tool", Dir: dir}, Program{}, "not found in the PATH"},
		"relative PATH": {Command{Path: "tool", Dir: dir, Env: []string{"PATH=."}}, Program{}, "not found in the PATH"},
		"no program":    {Command{Path: "text", Env: []string{"PATH=" + dir}}, Program{}, "not executable"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Find(tt.command)
			if got != tt.want || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// Finding C1: Start executes the file that Find found, whatever the name would resolve to by now, and passes that name
// as the program's own.
func TestFoundProgramIsExecuted_real(t *testing.T) {
	dir := toolbox(t)
	for name, tt := range map[string]struct {
		command Command
		want    string
	}{
		"file": {Command{Path: "nowhere-to-be-found", Program: dir + "/real"}, "real"},
		"name": {Command{Path: "called", Program: "/bin/sh", Args: []string{"-c", "echo $0"}}, "called"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(tt.command)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stop("over")
			out, err := io.ReadAll(p.Stdout())
			if got := strings.TrimSpace(string(out)); got != tt.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	if _, err := Start(Command{Path: "sh", Program: dir + "/gone", Env: []string{"PATH=/bin"}}); err == nil {
		t.Error("another file was started in place of one that is gone")
	}
}
