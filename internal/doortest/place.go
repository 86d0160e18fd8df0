// Package doortest holds what tests of the door (package plugin) and of the built program from outside need: a fake hub
// that the real door serves in its own process, a middle process that acts as a host and dies, observation of processes
// that are not children, and for the real program: where it is or is built, a place for each test whose processes can
// be told from others, and an environment without the user's settings.
//
// A test binary that calls [Main] from TestMain contains all these programs: it is run again with a role in its
// environment.
package doortest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// runDir is the directory of this run: the programs that tests start, and the state of their hubs. Begin sets it.
var runDir string

// Begin prepares this process for tests that start programs. The hubs that it and its children start get a state
// directory of their own instead of the user's, so approvals of tests are not stored among the user's, and state that
// an earlier run left behind does not slow the next one down; nothing that the user has set for mcphub counts. The
// binary of BinaryVariable is put where tests can link to it. end must be called after the last test.
func Begin() (end func()) {
	err := begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, "preparing the tests:", err)
		os.Exit(1)
	}
	return func() { _ = os.RemoveAll(runDir) }
}

func begin() (err error) {
	if runDir, err = os.MkdirTemp("", "mcphub-test"); err != nil {
		return err
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		users := strings.HasPrefix(name, "MCPHUB_") && name != BinaryVariable || strings.HasPrefix(name, "PLUGIN_")
		if !users {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	if err := os.Setenv(handshake.EnvStateDir, filepath.Join(runDir, "state")); err != nil {
		return err
	}
	built := os.Getenv(BinaryVariable)
	if built == "" {
		return nil
	}
	staged, err := Stage(built, filepath.Base(built))
	if err != nil {
		return err
	}
	return os.Setenv(BinaryVariable, staged)
}

// BinaryVariable names a mcphub that was built already; `make test` builds it once for all packages. If it is unset,
// each test binary that needs one builds its own.
const BinaryVariable = "MCPHUB_BINARY"

// Binary returns the path of a real mcphub: that of BinaryVariable, else one that is built once for each test binary.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := BinaryPath()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// BinaryPath is Binary for where there is no test, after [Begin].
func BinaryPath() (string, error) {
	if built := os.Getenv(BinaryVariable); built != "" {
		return built, nil
	}
	return binary()
}

var binary = sync.OnceValues(func() (string, error) {
	name := "mcphub"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(runDir, name)
	return path, Build(path, "", "github.com/mcphub-go/mcphub/cmd/mcphub")
})

// Build builds a program of the module in a folder, "" for that of the caller. Another process writes it, so it can be
// run at once.
func Build(path, folder, pkg string) error {
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// RunDir is the directory of this run, for programs that it builds. It is there after [Begin].
func RunDir() string { return runDir }

// Stage puts a program into the directory of this run, where tests can make hard links to it, and returns its path
// there. It must be called before the first test: an executable that is written while other processes are forked cannot
// be run for a moment ("text file busy").
func Stage(program, name string) (string, error) {
	path := filepath.Join(runDir, name)
	return path, linkOrCopy(program, path)
}

// linkOrCopy makes a hard link to the file, or copies it where that is not possible.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// Place is the directory of one test, with programs under names of its own, so that their processes can be told from
// those of other tests: every process of the test runs from there, or in there. One that is left at the end of the test
// fails it, and is killed.
type Place struct {
	// Dir is the directory, without links in its path.
	Dir string

	t        testing.TB
	programs []string
}

// NewPlace returns the place of a test.
func NewPlace(t testing.TB) *Place {
	t.Helper()
	p := &Place{Dir: t.TempDir(), t: t}
	if runtime.GOOS != "windows" {
		var err error
		if p.Dir, err = filepath.EvalSymlinks(p.Dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(p.endAll)
	return p
}

// Install puts a program into the place, and returns its path there.
func (p *Place) Install(program string) string {
	p.t.Helper()
	path := filepath.Join(p.Dir, filepath.Base(program))
	if err := linkOrCopy(program, path); err != nil {
		p.t.Fatal(err)
	}
	p.programs = append(p.programs, path)
	return path
}

// Mcphub installs the real mcphub.
func (p *Place) Mcphub() string {
	p.t.Helper()
	return p.Install(Binary(p.t))
}

// Ended is how a program ended, and what it printed.
type Ended struct {
	Status         int
	Stdout, Stderr string
}

// Run runs a program of the place to its end, without a terminal.
func (p *Place) Run(cmd *exec.Cmd) Ended {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = faketime.Long // a process that outlives it must not block the test
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lost := time.AfterFunc(faketime.Long, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); !lost.Stop() || err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("%q: %v\n%s%s", cmd.Args, err, stdout.String(), stderr.String())
	}
	return Ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
