package doortest

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

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
