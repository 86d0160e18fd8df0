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
	"strings"
	"sync"
	"syscall"
	"time"
)

// A suite is some tests of one package: what one question of a lane runs.
type suite struct {
	lane, folder string
	run, skip    string // patterns of go test
	binary       bool   // its tests start the built mcphub
}

func (s suite) name() string {
	if s.run != "" {
		return s.folder + " " + s.run
	}
	return s.folder
}

// The bounds of a run: memory for each process, as ulimit -d counts it, and time as a function of what the tests take
// without a change.
const memoryKiB = 3 << 20

func limit(unchanged time.Duration) time.Duration { return time.Minute + 5*unchanged }

// buildLimit bounds one call of the compiler.
const buildLimit = 10 * time.Minute

var errLimit = errors.New("it took too long")

// An asker runs suites in one repository.
type asker struct {
	root, temp string

	mu        sync.Mutex
	unchanged map[suite]time.Duration // guarded by mu
}

// A variant is the code that is asked about: a mutant, or the code as it is.
type variant struct {
	*asker
	mutant    *mutant // nil for the code as it is
	dir       string
	overlay   string            // "" for the code as it is
	binary    string            // the built mcphub, once it is needed
	programs  map[string]string // the built tests, by their folder
	compiling time.Duration     // what it took to see whether it compiles
}

// vary writes what the compiler needs for m. A nil m is the code as it is.
func (a *asker) vary(m *mutant) (*variant, error) {
	dir, err := os.MkdirTemp(a.temp, "variant")
	if err != nil {
		return nil, err
	}
	v := &variant{asker: a, mutant: m, dir: dir, programs: map[string]string{}}
	if m == nil {
		return v, nil
	}
	src, err := m.source(a.root)
	if err != nil {
		return nil, err
	}
	changed := filepath.Join(dir, filepath.Base(m.File))
	if err := os.WriteFile(changed, src, 0o644); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(a.root, filepath.FromSlash(m.File)): changed}})
	if err != nil {
		return nil, err
	}
	v.overlay = filepath.Join(dir, "overlay.json")
	return v, os.WriteFile(v.overlay, text, 0o644)
}

func (v *variant) remove() { _ = os.RemoveAll(v.dir) }

// compile runs go build or go test -c. The error has the compiler's output.
func (v *variant) compile(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, buildLimit, errLimit)
	defer cancel()
	if v.overlay != "" {
		args = append([]string{args[0], "-overlay", v.overlay}, args[1:]...)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = v.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// A finding is a test that failed.
type finding struct {
	test string // "" if the output names none
	how  string // failed, timeout, memory, panic, compile
}

// ask runs a suite and reports what failed, nil if nothing did.
func (v *variant) ask(ctx context.Context, s suite) (*finding, error) {
	most, err := v.time(ctx, s)
	if err != nil {
		return nil, err
	}
	program, err := v.build(ctx, s)
	if err != nil {
		return &finding{"", "compile"}, ctx.Err() // they compile without the change: time has built them
	}
	first := v.test(ctx, program, s, s.run, most)
	if first == nil || first.how == "timeout" {
		return first, ctx.Err()
	}
	if first.test != "" && v.test(ctx, program, s, "^"+first.test+"$", most) != nil {
		return first, ctx.Err()
	}
	// It passes alone: then the rest of the tests, or chance, decided. Chance does not do it twice.
	return v.test(ctx, program, s, s.run, most), ctx.Err()
}

// time returns how long the suite may take. The first time it runs the suite without a change, which must pass; it may
// fail once.
func (v *variant) time(ctx context.Context, s suite) (time.Duration, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if took, ok := v.unchanged[s]; ok {
		return limit(took), nil
	}
	as, err := v.vary(nil)
	if err != nil {
		return 0, err
	}
	defer as.remove()
	program, err := as.build(ctx, s)
	if err != nil {
		return 0, err
	}
	for range 2 {
		began := time.Now()
		failed := as.test(ctx, program, s, s.run, 20*time.Minute)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case failed == nil:
			v.unchanged[s] = time.Since(began)
			return limit(v.unchanged[s]), nil
		}
		err = fmt.Errorf("the tests of %s fail without a change: %s %s", s.name(), failed.test, failed.how)
		fmt.Fprintln(os.Stderr, err)
	}
	return 0, err
}

// build compiles the suite's tests, and the binary that they start.
func (v *variant) build(ctx context.Context, s suite) (program string, err error) {
	if s.binary && v.binary == "" {
		binary := filepath.Join(v.dir, "mcphub")
		if err := v.compile(ctx, "build", "-o", binary, "./cmd/mcphub"); err != nil {
			return "", err
		}
		v.binary = binary
	}
	if program, ok := v.programs[s.folder]; ok {
		return program, nil
	}
	program = filepath.Join(v.dir, strings.ReplaceAll(s.folder, "/", "-")+".test")
	err = v.compile(ctx, "test", "-c", "-vet=off", "-ldflags=-w", "-o", program, "./"+s.folder)
	if err == nil {
		v.programs[s.folder] = program
	}
	return program, err
}

// test runs those tests of a suite that match run, and reports the first one that failed.
func (v *variant) test(ctx context.Context, program string, s suite, run string, most time.Duration) *finding {
	ctx, cancel := context.WithTimeoutCause(ctx, most+time.Minute, errLimit)
	defer cancel()
	args := []string{"-c", fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, memoryKiB), program, "-test.short",
		"-test.failfast", "-test.paniconexit0", "-test.count=1", "-test.parallel=4", "-test.timeout=" + most.String()}
	if run != "" {
		args = append(args, "-test.run="+run)
	}
	if s.skip != "" {
		args = append(args, "-test.skip="+s.skip)
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = filepath.Join(v.root, filepath.FromSlash(s.folder))
	cmd.Env = append(os.Environ(), "PWD="+cmd.Dir)
	if v.binary != "" {
		cmd.Env = append(cmd.Env, "MCPHUB_BINARY="+v.binary)
	}
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
