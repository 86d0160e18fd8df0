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

// everythingPackage is the reference server of the protocol's authors; it runs on Node and speaks the legacy era.
const everythingPackage = "@modelcontextprotocol/server-everything"

// Everything returns the command that serves @modelcontextprotocol/server-everything over stdio. The paths are absolute, so
// the caller is free to choose a working directory.
//
// When the server is not installed, or not in the version that package.json pins, the test fails and says what to run. It is
// never skipped: a test against a foreign server that may go missing unnoticed proves nothing.
func Everything(t testing.TB) (cmd string, args []string) {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home, err := everythingHome(wd)
	if err != nil {
		t.Fatal(err)
	}
	script, err := installedEverything(home)
	if err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%s needs Node 20 or later: %v", everythingPackage, err)
	}
	if node, err = filepath.Abs(node); err != nil {
		t.Fatal(err)
	}
	return node, []string{script, "stdio"}
}

// everythingHome walks up from dir to the repository and returns the folder that holds the server's lock file. A test runs in
// its package's folder; runtime.Caller would be of no use under -trimpath.
func everythingHome(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		home := filepath.Join(d, "internal", "peers", "everything")
		if _, err := os.Stat(filepath.Join(home, "package-lock.json")); err == nil {
			return home, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no folder above %s holds internal/peers/everything", dir)
		}
	}
}

// installedEverything returns the server's script under home, or an error that names the command to run.
func installedEverything(home string) (string, error) {
	var pinned struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := readJSON(filepath.Join(home, "package.json"), &pinned); err != nil {
		return "", err
	}
	want := pinned.Dependencies[everythingPackage]
	if want == "" {
		return "", fmt.Errorf("%s pins no %s", filepath.Join(home, "package.json"), everythingPackage)
	}

	dir := filepath.Join(home, "node_modules", filepath.FromSlash(everythingPackage))
	var installed struct {
		Version string `json:"version"`
	}
	err := readJSON(filepath.Join(dir, "package.json"), &installed)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not installed: run `make peers`", everythingPackage)
	}
	if err != nil {
		return "", err
	}
	if installed.Version != want {
		return "", fmt.Errorf("%s is installed as %s, pinned is %s: run `make peers`", everythingPackage, installed.Version, want)
	}

	script := filepath.Join(dir, "dist", "index.js")
	if _, err := os.Stat(script); err != nil {
		return "", fmt.Errorf("%s is damaged, run `make clean peers`: %w", everythingPackage, err)
	}
	return script, nil
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
