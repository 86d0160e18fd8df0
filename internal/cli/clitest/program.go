// Package clitest runs commands for their tests: in the test's own process, in fake time or with the machine's clock,
// or as processes of the built program.
//
// What must not live here: tests, but for those of all commands.
package clitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// FolderWithServer makes a workspace folder with a config file that has the demo server, with a secret in its
// arguments. The server writes a record once it runs.
func FolderWithServer(p *Settings) (flags []string, record string) {
	p.T.Helper()
	record = filepath.Join(p.Folder, "ran.jsonl")
	text, err := json.Marshal(map[string]any{
		"inputs": []any{map[string]any{"id": "token", "type": "promptString", "description": "Your token", "password": true}},
		"servers": map[string]any{"srv": map[string]any{
			"command": p.Binary, "args": []string{"demo-server", "--record", "${workspaceFolder}/ran.jsonl", "--greet",
				"token ${input:token}"},
		}},
	})
	if err != nil {
		p.T.Fatal(err)
	}
	return []string{"--config", p.Config("mcp.json", string(text)), "--dialect", "vscode", "--scope", "workspace",
		"--folder", p.Folder, "--server", "srv",
		"--tool", "echo", "--args", `{"text":"hi"}`, "--approve", "allow"}, record
}

// Ran reports whether the server with this record was started.
func Ran(t *testing.T, record string) bool {
	t.Helper()
	_, err := os.Stat(record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// AtHome gives the program a home, and a workspace folder, of the test's own, with these files; a name begins with
// home/ or project/.
func (s *Settings) AtHome(files map[string]string) (work string) {
	s.T.Helper()
	home, work := filepath.Join(s.Folder, "home"), filepath.Join(s.Folder, "project")
	for _, dir := range []string{home, work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.T.Fatal(err)
		}
	}
	for name, text := range files {
		file := filepath.Join(s.Folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			s.T.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			s.T.Fatal(err)
		}
	}
	s.Programs("docs-server", "node", "npx", "srv", "a")
	s.Setenv("SHELL", "/bin/sh")
	s.Setenv("HOME", home)
	s.Setenv("USERPROFILE", home)
	s.Setenv("APPDATA", filepath.Join(home, "AppData", "Roaming"))
	s.Setenv("LOCALAPPDATA", filepath.Join(home, "AppData", "Local"))
	for _, name := range []string{"XDG_CONFIG_HOME", "CODEX_HOME", "GEMINI_CLI_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME",
		"OPENCODE_CONFIG", "CRUSH_GLOBAL_CONFIG"} {
		s.Setenv(name, "")
	}
	return work
}

// Programs puts programs of these names, which do nothing, in a folder that is first in the PATH.
func (s *Settings) Programs(names ...string) {
	s.T.Helper()
	bin := filepath.Join(s.Folder, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		s.T.Fatal(err)
	}
	for _, name := range names {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			s.T.Fatal(err)
		}
	}
	s.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// ListConfig has one server that works, one whose entry is broken, one that cannot start, and one that is switched off.
func ListConfig(p *Commands) string {
	return p.Config("mcp.json", fmt.Sprintf(`{
  // a comment
  "mcpServers": {
    "good": {"command": %q, "args": ["demo-server"], "alwaysAllow": ["echo"]},
    "broken": {"args": ["no command"]},
    "missing": {"command": %q},
    "off": {"command": %q, "disabled": true},
  }
}`, p.Binary, filepath.Join(p.Folder, "no-server"), p.Binary))
}
