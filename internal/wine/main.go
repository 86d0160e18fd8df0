// Wine runs the Windows build on Linux, under Wine: the demo of the cross-compiled binary, and the Go tests of hub,
// plugin, ipc and internal/cli (make test-windows). Tests that do not pass there are listed in skipped.txt with a
// reason. They run all the same, and a test that passes or no longer exists must be removed from the file, so that it
// only shrinks.
//
// This command contains the Wine prefix with what Wine lacks, the cross-compilation, and the evaluation of the tests'
// output. What tests do differently on Windows is in the tests themselves.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const modulePath = "github.com/mcphub-go/mcphub"

// tested are the packages whose tests run on Windows.
var tested = []string{"./hub/...", "./plugin/...", "./ipc/...", "./internal/cli/..."}

const (
	// atOnce is the number of packages that run at the same time. All of them start processes, and some measure times.
	atOnce      = 2
	demoLimit   = 3 * time.Minute
	demoPackage = "demo" // the name of the demo among the packages
)

// longest are started first, so that none of them runs alone at the end.
var longest = []string{"hub", demoPackage, hostPackage, "hub/config/watch", "internal/cli/demo", "internal/cli/mcp", "hub/process", "hub/transport",
	"hub/statefile", "ipc", "hub/jsonrpc"}

func main() {
	root := flag.String("root", ".", "the `folder` of the repository")
	core := flag.Bool("core", false, "without the tests of real processes and sockets, as the gate runs it")
	run := flag.String("run", "", "only the tests that the `pattern` fits; nothing is said then about skipped.txt")
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: go run ./internal/wine [flags] [hub/config demo editors/host ...]\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := try(ctx, *root, *run, *core, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "wine:", err)
		stop()
		os.Exit(1)
	}
}

// try builds and runs the packages of only, or all.
func try(ctx context.Context, root, run string, core bool, only []string) (err error) {
	if root, err = filepath.Abs(root); err != nil {
		return err
	}
	list, err := readSkipped(filepath.Join(root, "internal/wine/skipped.txt"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mcphub-wine")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	begun := time.Now()

	// The prefix is made while the compiler runs.
	var p prefix
	made := make(chan error, 1)
	go func() { made <- p.make(ctx, filepath.Join(dir, "prefix"), root) }()
	packages, buildErr := build(ctx, root, filepath.Join(dir, "bin"), only, list)
	err = <-made
	defer p.end()
	if err = cmp.Or(buildErr, err); err != nil {
		return err
	}
	fmt.Printf("built, and the prefix made (%.0fs)\n", time.Since(begun).Seconds())

	r := runner{root: root, bin: filepath.Join(dir, "bin"), binaries: binaries(packages),
		prefix: &p, run: run, core: core, list: list}
	failed := r.all(ctx, packages)
	if run == "" {
		failed = append(failed, list.unknown(packages, len(only) > 0)...)
	}
	fmt.Printf("%d packages under Wine, %d tests passed, %d are in skipped.txt (%.0fs)\n",
		len(packages), r.passed, list.count(packages), time.Since(begun).Seconds())
	if len(failed) > 0 {
		return fmt.Errorf("failed:\n%s", strings.Join(failed, "\n"))
	}
	return ctx.Err()
}

// runner runs the packages. mu guards the results.
type runner struct {
	root, bin string
	binaries  map[string]string // the test binary of each package, within bin
	prefix    *prefix
	run       string
	core      bool // without real, as the gate
	list      skipped

	mu     sync.Mutex
	passed int
	failed []string
	again  []string // packages that are run once more, alone
}

// all runs the packages, a few at the same time, and returns the failures.
func (r *runner) all(ctx context.Context, packages []string) []string {
	rank := func(name string) int {
		if i := slices.Index(longest, name); i >= 0 {
			return i
		}
		return len(longest)
	}
	packages = slices.Clone(packages)
	slices.SortStableFunc(packages, func(a, b string) int { return rank(a) - rank(b) })
	work := make(chan string)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for name := range work {
				r.one(ctx, name)
			}
		})
	}
	for _, name := range packages {
		work <- name
	}
	close(work)
	workers.Wait()
	for _, name := range r.again {
		fmt.Printf("repeated: %s, alone, since Wine could not start a process\n", name)
		r.one(ctx, name)
	}
	return r.failed
}

// one runs a package or the demo, and prints its line.
func (r *runner) one(ctx context.Context, name string) {
	if ctx.Err() != nil {
		return
	}
	begun := time.Now()
	var v verdict
	switch name {
	case demoPackage:
		v = r.demo(ctx)
	case hostPackage:
		v = r.host(ctx)
	default:
		v = r.test(ctx, name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if notStarted(v) && !slices.Contains(r.again, name) {
		r.again = append(r.again, name)
		return
	}
	r.passed += v.passed
	state := "ok  "
	if len(v.faults) > 0 {
		state = "FAIL"
	}
	fmt.Printf("%s %s: %d passed, %d listed (%.0fs)\n", state, name, v.passed, v.listed, time.Since(begun).Seconds())
	for _, f := range v.faults {
		r.failed = append(r.failed, name+": "+f)
		fmt.Printf("     %s\n", f)
	}
	for _, line := range v.output {
		fmt.Printf("       %s\n", line)
	}
}
