package cli_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli"
	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// full is a writer that has room for that many bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if len(p) > int(*f) {
		return 0, errors.New("no space left on device")
	}
	*f -= full(len(p))
	return len(p), nil
}

// A command whose output cannot be written fails, and nothing is written after the part that was lost.
func TestLostOutputIsAFailure(t *testing.T) {
	var stderr strings.Builder
	room := full(10)
	if status := cli.Run(clitest.Printing(&room, &stderr), []string{"version"}); status != exit.Server {
		t.Errorf("exit status %d", status)
	}
	if !strings.Contains(stderr.String(), "the output could not be written: no space left on device") {
		t.Errorf("stderr %q", stderr.String())
	}
	p := clitest.InBubbles(t)
	line, _ := p.DemoServer()
	for _, args := range [][]string{ // finding D7
		{"help"}, {"help", "call"}, {"call", "--help"}, {"completion", "bash"}, {"docs", "markdown"}, {"config", "places"},
		{"config", "places", "--json"}, {"tools", "--stdio", line},
		{"call", "--stdio", line, "--tool", "echo", "--args", `{"text":"x"}`, "--approve", "allow"},
	} {
		p.Stdout = new(full)
		if r := p.Run(args...); r.Status != exit.Server || !strings.Contains(r.Stderr, "the output could not be written: ") {
			t.Errorf("mcphub %q: status %d\n%s", args, r.Status, r.Stderr)
		}
	}
}
