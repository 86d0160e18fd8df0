package call_test

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestCallTellsAFailureOnce: only the last line says why a request failed, or its server, and no line before it, such
// as that of the server's state. Where the hub's error names a field of the contract, the command names the flag.
// Finding D9.
func TestCallTellsAFailureOnce(t *testing.T) {
	p := clitest.InBubbles(t)
	line, _ := p.DemoServer()
	for _, test := range []struct {
		args       []string
		status     exit.Status
		once, last string
	}{
		{[]string{line, "--tool", "slep"}, exit.Usage, `has no tool "slep"`, `did you mean "sleep"?`},
		{[]string{"'" + p.Binary + "' no-such-command", "echo"}, exit.Server, "exited with status 2", "exited with status 2"},
		{[]string{line, "echo", "--args", "[1]"}, exit.Usage, "--args wants one", "--args wants one"},
	} {
		r := p.Run(append([]string{"call", "--approve", "allow", "--stdio"}, test.args...)...)
		lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
		if r.Status != test.status || strings.Count(r.Stderr, test.once) != 1 ||
			!strings.Contains(lines[len(lines)-1], test.last) || strings.Contains(r.Stderr, "_json") {
			t.Errorf("%q: status %d:\n%s", test.args, r.Status, r.Stderr)
		}
	}
}
