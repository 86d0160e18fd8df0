//go:build unix

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe without a writer is told, and not waited for.
func TestPolicyIsAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "policy.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if p := ReadPolicyFile(pipe).Policy(); !strings.Contains(p.Unreadable, "no regular file") {
		t.Errorf("a pipe: %+v", p)
	}
}
