package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
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

// prefix is a separate Windows in a folder. It is Windows 10, and has the ProcessPrng that Go's runtime needs.
type prefix struct {
	dir string
	env []string
}

// make creates the prefix. end must be called, also after an error.
func (p *prefix) make(ctx context.Context, dir, root string) error {
	const compiler = "x86_64-w64-mingw32-gcc"
	for _, tool := range []string{"wine", "wineserver", compiler} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("there is no %s: Debian has it in wine64, wine and gcc-mingw-w64-x86-64-win32", tool)
		}
	}
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	p.dir = filepath.Join(dir, "wine")
	// Wine's own messages and the downloads of Mono and Gecko are off. Its links to the user's folders lead to this home.
	p.env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "MCPHUB_") }),
		"WINEPREFIX="+p.dir, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "HOME="+home, "DISPLAY=")
	for _, args := range [][]string{{"wineboot", "-i"}, {"winecfg", "-v", "win10"}} {
		// The output goes to a file, since processes that the first start leaves running would keep a pipe open.
		if out, err := output(p.command(ctx, time.Minute, args...), filepath.Join(dir, args[0]+".out")); err != nil {
			return fmt.Errorf("wine %s: %w\n%s", args[0], err, out)
		}
	}
	dll := filepath.Join(p.dir, "drive_c/windows/system32/bcryptprimitives.dll")
	source := filepath.Join(root, "internal/wine/prng/prng.c")
	if out, err := exec.CommandContext(ctx, compiler, "-shared", "-O2", "-o", dll, source, "-ladvapi32").
		CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	return nil
}

// command returns a program under Wine. It is killed after limit; processes that it has started end with the prefix.
func (p *prefix) command(ctx context.Context, limit time.Duration, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	cmd := exec.CommandContext(ctx, "wine", args...)
	cmd.Env = p.env
	cmd.Cancel = func() error { defer cancel(); return cmd.Process.Kill() }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// output runs a command with its output in a file, since a process that was left behind could keep a pipe open.
func output(cmd *exec.Cmd, file string) (text []byte, err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = f, f
	err = cmd.Run()
	_, seekErr := f.Seek(0, io.SeekStart)
	text, readErr := io.ReadAll(f)
	return text, errors.Join(err, seekErr, readErr, f.Close())
}

// end ends everything that runs in the prefix.
func (p *prefix) end() {
	if p.dir == "" {
		return
	}
	for _, arg := range []string{"-k", "-w"} {
		cmd := exec.Command("wineserver", arg)
		cmd.Env = p.env
		_ = cmd.Run() // an error means that nothing runs any more
	}
}
