package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// build makes mcphub.exe and a test binary for each package in bin (see binaries). It returns the packages: folders of
// the repository, and the demo.
func build(ctx context.Context, root, bin string, only []string, list skipped) (packages []string, err error) {
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	tool := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.Bytes())
		}
		return out, err
	}
	found, err := tool(append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"},
		tested...)...)
	if err != nil {
		return nil, err
	}
	for path := range strings.FieldsSeq(string(found)) {
		name := strings.TrimPrefix(path, modulePath+"/")
		if (len(only) == 0 || slices.Contains(only, name)) && list.whole(name) == "" {
			packages = append(packages, name)
		}
	}
	byFolder := map[string][]string{}
	for name, exe := range binaries(packages) {
		byFolder[filepath.Dir(exe)] = append(byFolder[filepath.Dir(exe)], modulePath+"/"+name)
	}
	if len(only) == 0 || slices.Contains(only, demoPackage) {
		packages = append(packages, demoPackage)
	}
	if len(only) == 0 || slices.Contains(only, hostPackage) {
		packages = append(packages, hostPackage)
		if err := buildHost(ctx, root, bin); err != nil {
			return nil, err
		}
	}
	overlay, err := patched(ctx, root, bin)
	if err != nil {
		return nil, err
	}
	if _, err := tool("build", "-ldflags=-s -w", "-o", bin+"/mcphub.exe", "./cmd/mcphub"); err != nil {
		return nil, err
	}
	for folder, paths := range byFolder {
		if err := os.MkdirAll(filepath.Join(bin, folder), 0o755); err != nil {
			return nil, err
		}
		if _, err := tool(append([]string{"test", "-c", "-vet=off", "-overlay=" + overlay, "-ldflags=-s -w",
			"-o", filepath.Join(bin, folder) + "/"}, paths...)...); err != nil {
			return nil, err
		}
	}
	return packages, nil
}

// binaries returns where in bin the test binary of each package is: FOLDER/NAME.test.exe. The go command writes those
// of several packages into one folder only if the last parts of their paths differ.
func binaries(packages []string) map[string]string {
	places, of := map[string]string{}, map[string]int{}
	for _, pkg := range packages {
		name := path.Base(pkg)
		places[pkg] = fmt.Sprintf("%d/%s.test.exe", of[name], name)
		of[name]++
	}
	return places
}

// patches make os.RemoveAll and testing.T.TempDir work under Wine 8, which cannot delete with POSIX semantics. Go
// requests such a deletion and knows three errors that mean "not supported"; Wine returns a fourth. A file that is
// deleted without these semantics stays in its folder until its last handle is closed, and Wine closes the handles of a
// process some time after it has ended. So an error that the folder is not empty must lead to another try, as testing
// does for a file that is still open.
var patches = []struct{ source, after, insert string }{
	{"internal/syscall/windows/at_windows.go", "case STATUS_INVALID_INFO_CLASS,", " NTStatus(0xC0000002),"},
	{"testing/testing_windows.go", "if err == syscall.ERROR_ACCESS_DENIED", " || err == syscall.ERROR_DIR_NOT_EMPTY"},
}

// patched writes an overlay for the go command with the patches. The product is built without it.
func patched(ctx context.Context, root, dir string) (overlay string, err error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = root
	goroot, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	replace := map[string]string{}
	for _, p := range patches {
		source := filepath.Join(strings.TrimSpace(string(goroot)), "src", p.source)
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		if bytes.Count(text, []byte(p.after)) != 1 {
			return "", fmt.Errorf("%s has changed: look whether os.RemoveAll works under Wine by itself now", source)
		}
		copied := filepath.Join(dir, filepath.Base(source))
		text = bytes.Replace(text, []byte(p.after), []byte(p.after+p.insert), 1)
		if err := os.WriteFile(copied, text, 0o644); err != nil {
			return "", err
		}
		replace[source] = copied
	}
	table, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, table, 0o644)
}
