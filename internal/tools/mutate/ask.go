package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

const modulePath = "github.com/mcphub-go/mcphub"

// What lane B asks first, since it is quick or finds much. All other packages of the module follow.
const cheap = "hub/mcpserver hub/jsonrpc internal/halves internal/matrix hub/mcp ipc/gateway hub ipc"

// The packages that are not of lane B: those of lane C, those of nightly runs, and the rules, which read the tree.
const left = "plugin plugin/host internal/doctor internal/hostile internal/soak internal/e2e internal/rules " +
	"internal/compat internal/conformance internal/conformance/scenario internal/peers"

// elsewhere is what a test says by its name if it is not of lane B: Makefile, test-go.
const elsewhere = "(_real|_nightly)$"

// The bounds of a run: memory for each process, as ulimit -d counts it, and time as a function of what the tests take
// without a change.
const memoryKiB = 3 << 20

func limit(unchanged time.Duration) time.Duration { return time.Minute + 5*unchanged }

var errLimit = errors.New("it took too long")

// An asker runs the tests of packages in one repository.
type asker struct {
	root, temp string
	order      []string                 // the folders of the packages of lane B, cheap ones first
	contain    map[string][]string      // the packages that the tests of a folder contain
	unchanged  map[string]time.Duration // what the tests of a folder take without a change
}

func newAsker(ctx context.Context, root string) (*asker, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-test", "-f", `{{.ImportPath}}|{{join .Deps ","}}`, "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	a := &asker{root: root, contain: map[string][]string{}, unchanged: map[string]time.Duration{},
		order: strings.Fields(cheap)}
	for line := range strings.Lines(string(out)) {
		name, deps, _ := strings.Cut(strings.TrimSpace(line), "|")
		folder, tests := strings.CutSuffix(strings.TrimPrefix(name, modulePath+"/"), ".test")
		if !tests || slices.Contains(strings.Fields(left), folder) {
			continue
		}
		for dep := range strings.SplitSeq(deps, ",") {
			dep, _, _ = strings.Cut(dep, " ") // a variant for a test
			a.contain[folder] = append(a.contain[folder], strings.TrimPrefix(dep, modulePath+"/"))
		}
		if !slices.Contains(a.order, folder) {
			a.order = append(a.order, folder)
		}
	}
	a.temp, err = os.MkdirTemp("", "mutate")
	return a, err
}

func (a *asker) remove() { _ = os.RemoveAll(a.temp) }

// tests returns the folders whose tests the lanes ask about a change in folder, in their order.
func (a *asker) tests(folder string, lanes []string) (folders []string) {
	if slices.Contains(lanes, laneOwn) {
		folders = append(folders, folder)
	}
	for _, other := range a.order {
		if slices.Contains(lanes, laneB) && other != folder && slices.Contains(a.contain[other], folder) {
			folders = append(folders, other)
		}
	}
	return folders
}

// overlay writes the file with which the go command sees the change, and returns its path.
func (a *asker) overlay(m mutant) (string, error) {
	src, err := m.source(a.root)
	if err != nil {
		return "", err
	}
	file := filepath.Join(a.temp, "changed.go")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(a.root, filepath.FromSlash(m.File)): file}})
	path := filepath.Join(a.temp, "overlay.json")
	return path, errors.Join(err, os.WriteFile(file, src, 0o644), os.WriteFile(path, text, 0o644))
}

// A finding is a test that failed.
type finding struct {
	test string // "" if the output names none
	how  string // failed, timeout, memory, panic, compile
}

// ask runs the tests of a folder and reports what failed, nil if nothing did. Chance does not fail them twice.
func (a *asker) ask(ctx context.Context, overlay, folder string) (*finding, error) {
	if _, ok := a.unchanged[folder]; !ok {
		began := time.Now()
		failed := a.test(ctx, "", folder, 20*time.Minute)
		if failed != nil {
			fmt.Fprintf(os.Stderr, "the tests of %s fail without a change: %v\n", folder, *failed)
			began, failed = time.Now(), a.test(ctx, "", folder, 20*time.Minute)
		}
		if failed != nil {
			return nil, fmt.Errorf("the tests of %s fail without a change: %v", folder, *failed)
		}
		a.unchanged[folder] = time.Since(began)
	}
	most := limit(a.unchanged[folder])
	failed := a.test(ctx, overlay, folder, most)
	if failed != nil && (failed.how == "failed" || failed.how == "panic") {
		failed = a.test(ctx, overlay, folder, most)
	}
	return failed, ctx.Err()
}

// test runs the tests of a folder, and reports the first one that failed.
func (a *asker) test(ctx context.Context, overlay, folder string, most time.Duration) *finding {
	ctx, cancel := context.WithTimeoutCause(ctx, most+10*time.Minute, errLimit) // the compiler has time of its own
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -d %d && exec go test "$@"`, memoryKiB), "sh",
		"-overlay="+overlay, "-vet=off", "-short", "-failfast", "-count=1", "-parallel=4", "-timeout="+most.String(),
		"-skip="+elsewhere, "./"+folder)
	cmd.Dir = a.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its children are to end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err == nil {
		return nil
	}
	return found(out.String(), ctx.Err() != nil)
}

var (
	failedTest  = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	runningTest = regexp.MustCompile(`(?m)^\s*running tests:\n\s*(\S+)`)
	stackedTest = regexp.MustCompile(`\.(Test\w+)(?:\.func\d+[.\w]*)?\(`)
)

// found reads from the output of tests which one failed, and how.
func found(out string, killed bool) *finding {
	name := func(in *regexp.Regexp) string {
		if m := in.FindStringSubmatch(out); m != nil {
			return m[1]
		}
		return ""
	}
	switch {
	case strings.Contains(out, "[build failed]"):
		return &finding{"", "compile"}
	case strings.Contains(out, "panic: test timed out"):
		return &finding{name(runningTest), "timeout"}
	case killed:
		return &finding{"", "timeout"}
	case strings.Contains(out, "out of memory"):
		return &finding{name(stackedTest), "memory"}
	}
	if test := name(failedTest); test != "" {
		return &finding{test, "failed"}
	}
	return &finding{name(stackedTest), "panic"}
}
