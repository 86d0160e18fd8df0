//go:build unix

package statefile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe or a device is refused at once, also behind a link.
func TestRewriteRefusesPipesAndDevices(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe.json"), filepath.Join(dir, "link.json")
	must(t, syscall.Mkfifo(pipe, 0o600))
	must(t, os.Symlink(pipe, link))
	for _, path := range []string{pipe, link, "/dev/null"} {
		rewriteError(t, Rewrite(t.Context(), path, Rewriting{Make: true}, add("a")), "no plain file")
	}
}
