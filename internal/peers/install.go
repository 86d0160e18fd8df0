package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A foreign server that is missing must not go unnoticed: what is not installed fails the test with the command to run.

// home walks up from dir to the repository and returns the folder of a server, which holds the lock file. A test runs
// in its package's folder; runtime.Caller would be of no use under -trimpath.
func home(dir, server, lock string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		home := filepath.Join(d, "internal", "peers", server)
		if _, err := os.Stat(filepath.Join(home, lock)); err == nil {
			return home, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no folder above %s holds internal/peers/%s", dir, server)
		}
	}
}

// installed returns the folder of a package below a server's home, or an error that names the command to run.
func installed(home, name string) (string, error) {
	var pinned struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := readJSON(filepath.Join(home, "package.json"), &pinned); err != nil {
		return "", err
	}
	want := pinned.Dependencies[name]
	if want == "" {
		return "", fmt.Errorf("%s pins no %s", filepath.Join(home, "package.json"), name)
	}

	dir := filepath.Join(home, "node_modules", filepath.FromSlash(name))
	var found struct {
		Version string `json:"version"`
	}
	err := readJSON(filepath.Join(dir, "package.json"), &found)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not installed: run `make peers`", name)
	}
	if err != nil {
		return "", err
	}
	if found.Version != want {
		return "", fmt.Errorf("%s is installed as %s, pinned is %s: run `make peers`", name, found.Version, want)
	}
	return dir, nil
}

// script returns a file of an installed package.
func script(home, name string, path ...string) (string, error) {
	dir, err := installed(home, name)
	if err != nil {
		return "", err
	}
	file := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("%s is damaged, run `make clean peers`: %w", name, err)
	}
	return file, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// mustHome returns home for the folder in which the test runs.
func mustHome(t testing.TB, server string) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := home(wd, server, "package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// node returns the absolute path of Node.
func node(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("the servers need Node 20 or later: %v", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
	return path
}
