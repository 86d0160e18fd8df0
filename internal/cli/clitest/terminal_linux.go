package clitest

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// Terminal is a program on a pseudo terminal, and what it has written there. Its cleanup ends its reader.
type Terminal struct {
	T      *testing.T
	Master *os.File
	cmd    *exec.Cmd
	Said   Heard
	read   chan struct{} // closed at the end of the output
	From   int           // expect looks for what was written from here on
}

// OpenTerminal opens a pseudo terminal: master is the person's side, slave the program's.
func OpenTerminal(t *testing.T) (master, slave *os.File) {
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

// OnTerminal starts a command on a terminal, with more variables.
func (p *Program) OnTerminal(env []string, args ...string) *Terminal {
	p.T.Helper()
	return p.OnTerminalOf(100, env, args...)
}

// OnTerminalOf is OnTerminal with a number of columns.
func (p *Program) OnTerminalOf(columns uint16, env []string, args ...string) *Terminal {
	p.T.Helper()
	master, slave := openTerminalOf(p.T, columns)
	defer slave.Close()
	term := &Terminal{T: p.T, Master: master, read: make(chan struct{}), cmd: p.Command(args...)}
	term.cmd.Env = append(term.cmd.Env, env...)
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = slave, slave, slave
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	bound := time.AfterFunc(faketime.Long, func() { _ = term.cmd.Process.Kill() })
	go func() {
		defer close(term.read)
		_, _ = io.Copy(&term.Said, master) // ends with EIO once nobody has the terminal open
	}()
	p.T.Cleanup(func() {
		bound.Stop()
		master.Close()
		<-term.read
	})
	return term
}

// Expect waits until the program has written each of these, in this order.
func (term *Terminal) Expect(wants ...string) {
	term.T.Helper()
	bound := time.After(faketime.Long)
	for _, want := range wants {
		for {
			text, changed := term.Said.Now()
			if i := strings.Index(text[term.From:], want); i >= 0 {
				term.From += i + len(want)
				break
			}
			select {
			case <-changed:
				continue
			case <-term.read:
			case <-bound:
			}
			if text, _ = term.Said.Now(); !strings.Contains(text[term.From:], want) {
				term.T.Fatalf("it does not say %q after:\n%s", want, text)
			}
		}
	}
}

// Enter types a line.
func (term *Terminal) Enter(line string) {
	term.T.Helper()
	if _, err := io.WriteString(term.Master, line+"\n"); err != nil {
		term.T.Fatal(err)
	}
}

// Wait waits for the end of the program.
func (term *Terminal) Wait() exit.Status {
	term.T.Helper()
	if err := term.cmd.Wait(); term.cmd.ProcessState == nil {
		term.T.Fatal(err)
	}
	select { // its last output may still be in the terminal
	case <-term.read:
	case <-time.After(faketime.Long):
		term.T.Error("somebody has the terminal open after the end of the program")
	}
	return exit.Status(term.cmd.ProcessState.ExitCode())
}

// Shows reports whether a terminal shows what is typed on it.
func Shows(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}
