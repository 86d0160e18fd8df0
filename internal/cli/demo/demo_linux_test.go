package demo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/demo"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestDemoByEnter_real: on a terminal each step waits for Enter, and the steps are in colour.
func TestDemoByEnter_real(t *testing.T) {
	t.Parallel()
	term := clitest.Build(t).OnTerminal([]string{"TERM=xterm", "NO_COLOR="}, "demo")
	for range len(demo.Titles()) - 1 {
		term.Expect("Enter for the next step")
		term.Enter("")
	}
	term.Expect("\x1b[1m", "Everything ends", "ok", fmt.Sprintf("All %d steps did what they say", len(demo.Titles())))
	if status := term.Wait(); status != 0 {
		t.Errorf("status %d", status)
	}
}

// TestDemoQuit_real: q ends the demo at any step with status 0, and Ctrl-C with 3. Nothing is left behind.
func TestDemoQuit_real(t *testing.T) {
	t.Parallel()
	term := clitest.Build(t).OnTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "demo")
	term.Expect("Enter for the next step")
	term.Enter("q")
	if status := term.Wait(); status != 0 {
		t.Errorf("status %d", status)
	}
	if strings.Contains(term.Said.String(), "\x1b") {
		t.Error("colour although NO_COLOR is set")
	}

	term = clitest.Build(t).OnTerminal(nil, "demo")
	term.Expect("Enter for the next step")
	term.Master.WriteString("\x03")
	if status := term.Wait(); status != 3 {
		t.Errorf("Ctrl-C: status %d\n%s", status, term.Said.String())
	}
}

// TestDemoKilled_real: a demo that is killed leaves nothing behind: neither its hub nor what the hub runs, nor its own
// servers.
func TestDemoKilled_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	r := p.Start("demo") // without a terminal, whose end would end them too
	r.Stdout.Await(t, "over HTTP")
	if n := len(p.Running(p.Binary)); n != 7 { // the demo, the hub and its guard, four servers
		t.Errorf("%d processes run, want 7", n)
	}
	if err := r.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.Wait()
	ctx, done := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	defer done()
	if err := door.Eventually(ctx, "the end of every process", func() (bool, error) {
		return len(p.Running(p.Binary)) == 0, nil
	}); err != nil {
		t.Error(err)
	}
}
