package clitest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// Settings are the folder and the variables of the commands that a test runs.
type Settings struct {
	T      *testing.T
	Folder string
	Binary string // of the program

	inside bool     // the commands run in this process, so their variables are its own
	env    []string // of the commands, beside that of the tests; of one name the last counts
	unset  []string // names that the commands do not get from the tests
}

// Program is the built binary under a name of its own, so that its processes can be told from those of other tests.
type Program struct {
	*doortest.Place
	Settings
}

// Build returns the program. No process of it may be left at the end of the test.
func Build(t *testing.T) *Program {
	t.Helper()
	p := doortest.NewPlace(t)
	return &Program{Place: p, Settings: Settings{T: t, Folder: p.Dir, Binary: p.Mcphub()}}
}

// Setenv sets a variable for each command that is started from now on. The tests' own environment stays as it is: most
// of them run at once.
func (s *Settings) Setenv(name, value string) {
	if s.inside {
		s.T.Setenv(name, value)
	}
	s.env = append(s.env, name+"="+value)
}

// Unsetenv takes a variable of the tests' own environment away from each command that is started from now on.
func (s *Settings) Unsetenv(name string) {
	if s.inside {
		s.T.Setenv(name, "") // restores it at the end of the test
		_ = os.Unsetenv(name)
	}
	s.unset = append(s.unset, name)
}

func (s *Settings) environ() []string {
	own := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(s.unset, name)
	})
	return append(own, s.env...)
}

// Command is one of the program, not started.
func (p *Program) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.Binary, args...)
	cmd.Env = p.environ()
	return cmd
}

// DemoServer returns the command line of the demo server for --stdio. The server records what it receives in record.
func (p *Settings) DemoServer() (commandLine, record string) {
	record = filepath.Join(p.Folder, "record.jsonl")
	return fmt.Sprintf("'%s' demo-server --record '%s'", p.Binary, record), record
}

// Config writes a config file.
func (s *Settings) Config(name, text string) string {
	s.T.Helper()
	file := filepath.Join(s.Folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.T.Fatal(err)
	}
	return file
}

// Ended is how a command ended.
type Ended struct {
	Status         exit.Status
	Stdout, Stderr string
}

// Run runs a command to its end, without a terminal.
func (p *Program) Run(args ...string) Ended {
	p.T.Helper()
	e := p.Place.Run(p.Command(args...))
	return Ended{exit.Status(e.Status), e.Stdout, e.Stderr}
}

// Started is a command that runs.
type Started struct {
	T              *testing.T
	Stdout, Stderr Heard

	// a process
	Cmd    *exec.Cmd // nil in this process
	Output *os.File  // where its stdout is read
	copied chan struct{}

	// in this process
	Said    Heard // stdout and stderr, as they came
	signals chan os.Signal
	over    chan struct{} // closed at its end
	status  exit.Status
}

// Start starts a command.
func (p *Program) Start(args ...string) *Started { return p.StartWith(nil, args...) }

// StartWith starts a command with a standard input.
func (p *Program) StartWith(stdin *os.File, args ...string) *Started {
	p.T.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		p.T.Fatal(err)
	}
	r := &Started{T: p.T, Cmd: p.Command(args...), Output: read, copied: make(chan struct{})}
	r.Cmd.Stdout, r.Cmd.Stderr = write, &r.Stderr
	if stdin != nil {
		r.Cmd.Stdin = stdin
	}
	// A process that outlives the command must not block the test; its place finds it.
	r.Cmd.WaitDelay = faketime.Long
	takeInterrupts(r.Cmd)
	if err := r.Cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	write.Close()
	go func() {
		defer close(r.copied)
		_, _ = io.Copy(&r.Stdout, read) // it ends with the process, or when the test closes it
	}()
	bound := time.AfterFunc(faketime.Long, func() {
		p.T.Errorf("mcphub %q took too long", args)
		_ = r.Cmd.Process.Kill()
	})
	p.T.Cleanup(func() {
		bound.Stop()
		read.Close()
		<-r.copied
	})
	return r
}

// Interrupt is Ctrl-C.
func (r *Started) Interrupt() {
	r.T.Helper()
	if r.Cmd == nil {
		r.signals <- os.Interrupt
		return
	}
	if err := sendInterrupt(r.Cmd.Process); err != nil {
		_ = r.Cmd.Process.Kill()
		r.T.Fatal(err)
	}
}

// Wait waits for the end of a command.
func (r *Started) Wait() (status exit.Status) {
	r.T.Helper()
	if r.Cmd == nil {
		<-r.over
		return r.status
	}
	err := r.Cmd.Wait()
	<-r.copied
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		r.T.Fatalf("%v\n%s", err, r.Stderr.String())
	}
	return exit.Status(r.Cmd.ProcessState.ExitCode())
}

// Read waits for the end of a command, and returns its status and its output.
func (r *Started) Read() Ended {
	r.T.Helper()
	return Ended{r.Wait(), r.Stdout.String(), r.Stderr.String()}
}

// Interrupt is Ctrl-C, after which a command with a page must end in order.
func Interrupt(t *testing.T, r *Started) {
	t.Helper()
	r.Interrupt()
	if status := r.Wait(); status != 0 {
		t.Errorf("status %d\n%s", status, r.Stderr.String())
	}
}
