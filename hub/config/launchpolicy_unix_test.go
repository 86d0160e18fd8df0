//go:build unix

package config

import (
	"os"
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

// A link to a policy is a policy, also while what it leads to is not there: a file system that is not mounted must not
// lift it.
func TestPolicyBehindALink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "policy.json")
	folder := filepath.Join(dir, "mcphub")
	for from, to := range map[string]string{link: "gone.json", folder: "gone"} {
		if err := os.Symlink(filepath.Join(dir, to), from); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{link, filepath.Join(folder, "policy.json")} {
		p := ReadPolicyFile(file)
		if p == nil {
			t.Fatalf("%s is no policy", file)
		} else if why := p.Policy().Unreadable; !strings.Contains(why, "leads to nothing") {
			t.Errorf("%s cannot be used: %q", file, why)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "gone.json"), []byte(`{"allowedServers": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := ReadPolicyFile(link).Policy(); p.Unreadable != "" || len(p.Only) != 1 {
		t.Errorf("a link to a policy: %+v", p)
	}
}
