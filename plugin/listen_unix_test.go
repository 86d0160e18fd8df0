//go:build unix

package plugin

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
)

// A socket is its user's alone unless the host names a group, lies where the host says, and goes with its listener.
func TestSocketIsItsUsers(t *testing.T) {
	dir, err := os.MkdirTemp("", "p") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for group, want := range map[string]os.FileMode{"": 0o600, strconv.Itoa(os.Getgid()): 0o660} {
		l, err := listen("linux", variables(map[string]string{goplugin.EnvUnixSocketDir: dir,
			goplugin.EnvUnixSocketGroup: group}))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(l.Addr().String())
		if err != nil || info.Mode().Perm() != want || filepath.Dir(l.Addr().String()) != dir {
			t.Errorf("group %q: %s, %v, %v", group, l.Addr(), info.Mode(), err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(l.Addr().String()); !os.IsNotExist(err) {
			t.Errorf("after the end: %v", err)
		}
	}
	for name, set := range map[string]map[string]string{
		"no folder": {goplugin.EnvUnixSocketDir: filepath.Join(dir, "none")},
		"no group":  {goplugin.EnvUnixSocketDir: dir, goplugin.EnvUnixSocketGroup: "no such group"},
		"too long":  {goplugin.EnvUnixSocketDir: filepath.Join(dir, strings.Repeat("x", 120))},
	} {
		if l, err := listen("linux", variables(set)); err == nil {
			t.Errorf("%s: it listens at %v", name, l.Addr())
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
