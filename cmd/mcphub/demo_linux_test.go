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

// TestDemoByHand_real: on a terminal each step waits for Enter, and then the person calls, cancels and answers by hand,
// also on the page that the demo opens, which shows what is done on the terminal.
func TestDemoByHand_real(t *testing.T) {
	t.Parallel()
	term := build(t).onTerminal([]string{"TERM=xterm", "NO_COLOR="}, "demo")
	for range len(scenes) + 1 {
		term.expect("Enter for the next step")
		term.enter("")
	}
	term.expect("\x1b[1m    Now the hub is yours.", "see all of this in a browser", promptSign)

	term.enter("tools")
	term.expect("ask_then_withdraw", promptSign)
	term.enter(`call echo {"text":"by hand"}`)
	term.expect("question q1: may echo run on demo?")
	term.enter("prompts")
	term.expect("question q1: may echo run on demo?")
	term.enter("answer q1 accept")
	term.expect("question q1 closed: answered", "c1: result: by hand")
	term.enter("answer q1 accept")
	term.expect("PROMPT_CLOSED")

	term.enter(`call sleep {"seconds":60,"steps":600}`)
	term.expect("c2: 1 of 600")
	term.enter("requests")
	term.expect("c2", "sleep on demo")
	term.enter("cancel c2 not now")
	term.expect("c2: CANCELLED")
	term.enter("cancel c2")
	term.expect("it had ended already")

	term.enter("call demo-legacy ask_name")
	term.expect("question q2: demo-legacy asks: What is your name?")
	term.enter(`answer q2 accept {"name":7}`)
	term.expect("INVALID_CONTENT")
	term.enter(`answer q2 accept {"name":"Ada"}`)
	term.expect("c3: result: Hello, Ada!")
	term.enter("servers")
	term.expect("demo-http ", "Streamable HTTP at http://127.0.0.1:")
	term.enter(`call demo-http sleep {"seconds":60,"steps":600}`)
	term.expect("c4: 1 of 600")
	term.enter("cancel c4")
	term.expect("c4: CANCELLED")
	term.enter("fly")
	term.expect(`"fly" is no command`)

	term.enter("w")
	tb := browserAt(t, term.link()).tab("tab")
	if n := len(tb.snapshot().GetServers()); n != len(demoServers) {
		t.Errorf("%d servers, want %d", n, len(demoServers))
	}
	term.enter("call demo-legacy ask_name")
	tb.answer(accept(tb.prompt(legacyServer).GetPromptId(), `{"name":"Bob"}`))
	term.expect("c5: result: Hello, Bob!")

	term.enter("quit")
	term.expect("Enter for the next step")
	term.enter("")
	term.expect("Everything ends", "ok", fmt.Sprintf("All %d steps did what they say", len(scenes)+2))
	if status := term.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
	<-tb.ended
}

// TestDemoQuit_real: q ends the demo at any step with status 0, and Ctrl-C with 3. Nothing is left behind.
func TestDemoQuit_real(t *testing.T) {
	t.Parallel()
	term := build(t).onTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "demo")
	term.expect("Enter for the next step")
	term.enter("")
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
