package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// terminal is a program on a pseudo terminal, and what it has written there. Its cleanup ends its reader.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	said   heard
	read   chan struct{} // closed at the end of the output
	from   int           // expect looks for what was written from here on
}

// openTerminal opens a pseudo terminal: master is the person's side, slave the program's.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	return openTerminalOf(t, 100)
}

// openTerminalOf is openTerminal with a number of columns.
func openTerminalOf(t *testing.T, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: columns})
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

func (p *program) onTerminal(env []string, args ...string) *terminal {
	p.t.Helper()
	return p.onTerminalOf(100, env, args...)
}

func (p *program) onTerminalOf(columns uint16, env []string, args ...string) *terminal {
	p.t.Helper()
	master, slave := openTerminalOf(p.t, columns)
	defer slave.Close()
	term := &terminal{t: p.t, master: master, read: make(chan struct{}), cmd: p.command(args...)}
	term.cmd.Env = append(term.cmd.Env, env...)
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = slave, slave, slave
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	bound := time.AfterFunc(faketime.Long, func() { term.cmd.Process.Kill() })
	go func() {
		defer close(term.read)
		io.Copy(&term.said, master) // ends with EIO once nobody has the terminal open
	}()
	p.t.Cleanup(func() {
		bound.Stop()
		master.Close()
		<-term.read
	})
	return term
}

// expect waits until the program has written each of these, in this order.
func (term *terminal) expect(wants ...string) {
	term.t.Helper()
	bound := time.After(faketime.Long)
	for _, want := range wants {
		for {
			text, changed := term.said.now()
			if i := strings.Index(text[term.from:], want); i >= 0 {
				term.from += i + len(want)
				break
			}
			select {
			case <-changed:
				continue
			case <-term.read:
			case <-bound:
			}
			if text, _ = term.said.now(); !strings.Contains(text[term.from:], want) {
				term.t.Fatalf("it does not say %q after:\n%s", want, text)
			}
		}
	}
}

func (term *terminal) enter(line string) {
	term.t.Helper()
	if _, err := io.WriteString(term.master, line+"\n"); err != nil {
		term.t.Fatal(err)
	}
}

func (term *terminal) wait() int {
	term.t.Helper()
	if err := term.cmd.Wait(); term.cmd.ProcessState == nil {
		term.t.Fatal(err)
	}
	select { // its last output may still be in the terminal
	case <-term.read:
	case <-time.After(faketime.Long):
		term.t.Error("somebody has the terminal open after the end of the program")
	}
	return term.cmd.ProcessState.ExitCode()
}

// TestDemoByEnter_real: on a terminal each step waits for Enter, and the steps are in colour.
func TestDemoByEnter_real(t *testing.T) {
	t.Parallel()
	term := build(t).onTerminal([]string{"TERM=xterm", "NO_COLOR="}, "demo")
	for range len(scenes) - 1 {
		term.expect("Enter for the next step")
		term.enter("")
	}
	term.expect("\x1b[1m", "Everything ends", "ok", fmt.Sprintf("All %d steps did what they say", len(scenes)))
	if status := term.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
}

// TestDemoQuit_real: q ends the demo at any step with status 0, and Ctrl-C with 3. Nothing is left behind.
func TestDemoQuit_real(t *testing.T) {
	t.Parallel()
	term := build(t).onTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "demo")
	term.expect("Enter for the next step")
	term.enter("q")
	if status := term.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
	if strings.Contains(term.said.String(), "\x1b") {
		t.Error("colour although NO_COLOR is set")
	}

	term = build(t).onTerminal(nil, "demo")
	term.expect("Enter for the next step")
	term.master.WriteString("\x03")
	if status := term.wait(); status != 3 {
		t.Errorf("Ctrl-C: status %d\n%s", status, term.said.String())
	}
}

// TestDemoKilled_real: a demo that is killed leaves nothing behind: neither its hub nor what the hub runs, nor its own
// servers.
func TestDemoKilled_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	r := p.start("demo") // without a terminal, whose end would end them too
	r.stdout.await(t, "over HTTP")
	if n := len(p.Running(p.path)); n != 7 { // the demo, the hub and its guard, four servers
		t.Errorf("%d processes run, want 7", n)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.wait()
	ctx, done := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	defer done()
	if err := until(ctx, "the end of every process", func() (bool, error) {
		return len(p.Running(p.path)) == 0, nil
	}); err != nil {
		t.Error(err)
	}
}
