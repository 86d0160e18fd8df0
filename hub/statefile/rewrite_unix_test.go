//go:build unix

package statefile

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is no plain file is refused at once, also behind a link: a pipe, and a socket, which stands for a device. A
// device would be everybody's, and lost if it were not refused.
func TestRewriteRefusesPipesAndSockets(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe.json"), filepath.Join(dir, "link.json")
	must(t, syscall.Mkfifo(pipe, 0o600))
	must(t, os.Symlink(pipe, link))
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	defer listener.Close()
	for _, path := range []string{pipe, link, socket} {
		rewriteError(t, Rewrite(t.Context(), path, Rewriting{Make: true}, add("a")), "no plain file")
	}
}
