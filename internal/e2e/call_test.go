//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// command prepares a command of the binary, without a terminal.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.hub, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), stateless)
	cmd.WaitDelay = faketime.Long // a process that outlives the command must not block the test
	return cmd
}

// printed is what a command printed, and its exit status.
type printed struct {
	status         int
	stdout, stderr string
}

// run runs a command to its end.
func (p *place) run(args ...string) printed {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lost := time.AfterFunc(faketime.Long, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); !lost.Stop() || err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("mcphub %q: %v\n%s%s", args, err, stdout.String(), stderr.String())
	}
	return printed{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// line is e as the text for --stdio.
func (e entry) line() string {
	words := []string{"'" + e.Command + "'"}
	for _, a := range e.Args {
		words = append(words, "'"+a+"'")
	}
	return strings.Join(words, " ")
}
