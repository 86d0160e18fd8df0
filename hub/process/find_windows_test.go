package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program is found by the extensions of PATHEXT, in their order, in the PATH of the server, whose name may be spelled
// Path; by its name with an extension; by a path with drive, in either kind of separator; and not in a relative folder
// of the PATH.
func TestFindByExtension(t *testing.T) {
	t.Setenv("PATHEXT", ".EXE;.CMD")
	first, second, long := t.TempDir(), t.TempDir(), t.TempDir()
	for len(long) < 300 {
		long = filepath.Join(long, strings.Repeat("x", 40))
	}
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(first, "tool.cmd"), filepath.Join(first, "tool.exe"),
		filepath.Join(second, "tool.exe"), filepath.Join(second, "other.cmd"), filepath.Join(second, "text.txt"),
		filepath.Join(long, "far.exe")} {
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"Path=relative;" + first + ";" + second + ";" + long, "SystemRoot=" + os.Getenv("SystemRoot")}
	for command, want := range map[string]string{
		"tool":                                 filepath.Join(first, "tool.exe"),
		"tool.cmd":                             filepath.Join(first, "tool.cmd"),
		"other":                                filepath.Join(second, "other.cmd"),
		"far":                                  filepath.Join(long, "far.exe"),
		filepath.Join(second, "tool"):          filepath.Join(second, "tool.exe"),
		filepath.ToSlash(second) + "/tool.exe": filepath.Join(second, "tool.exe"),
		"text":                                 "",
		"nothing":                              "",
		filepath.Join(second, "nothing"):       "",
	} {
		found, err := Find(Command{Path: command, Dir: first, Env: env})
		if want == "" {
			var failed *StartError
			if !errors.As(err, &failed) || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %+v, %v", command, found, err)
			}
			continue
		}
		if err != nil || !strings.EqualFold(filepath.Clean(found.Path), want) {
			t.Errorf("%s: %q, %v; want %q", command, found.Path, err, want)
		}
	}
}
