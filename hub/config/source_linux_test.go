package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A workspace may have a link to anything under the name of a config file. What is not a regular file is reported, not
// read: a device has no end, and nobody may ever write to a pipe.
func TestConfigThatIsNoFileIsNotRead(t *testing.T) {
	dir := t.TempDir()
	pipe, zero, large := filepath.Join(dir, "pipe.json"), filepath.Join(dir, "zero.json"), filepath.Join(dir, "large.json")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", zero); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, int64(ofFolder.bytes)+1); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "not a regular file", zero: "not a regular file",
		large: "larger than"} {
		servers, problems := Load([]Source{{Path: path, Scope: "workspace"}})
		if len(servers) != 0 || len(problems) != 1 || !problems[0].Fatal || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %v, %v", filepath.Base(path), servers, problems)
		}
	}
}
