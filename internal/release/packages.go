package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// prepare makes what the npm packages and the extension are packed from, so that a fresh clone is enough: it installs
// the packages of editors/ if they are missing, and builds the host package from its present sources.
func (r *release) prepare() error {
	editors := filepath.Join(r.root, "editors")
	installed, err := exists(filepath.Join(editors, "node_modules"))
	if err != nil {
		return err
	}
	built, err := exists(filepath.Join(editors, "host", "dist", "index.js"))
	if err != nil {
		return err
	}
	// a copy of the repository without node_modules: its sources are those that were built
	if !installed && built && !r.vsix {
		return nil
	}
	if !installed {
		if err := npm(editors, "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
			return err
		}
	}
	return npm(editors, "run", "--silent", "build", "-w", "host")
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// npm runs npm in a folder.
func npm(dir string, args ...string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("there is no npm: the packages for Node and the extension need Node 20 or later with it")
	}
	cmd := exec.Command("npm", args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm %s in %s: %w\n%s", args[0], dir, err, text)
	}
	return nil
}
