//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"strings"
)

// command prepares a command of the binary, without a terminal.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.hub, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), stateless)
	return cmd
}

// line is e as the text for --stdio.
func (e entry) line() string {
	words := []string{"'" + e.Command + "'"}
	for _, a := range e.Args {
		words = append(words, "'"+a+"'")
	}
	return strings.Join(words, " ")
}
