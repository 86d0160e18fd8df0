package call_test

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/console"
)

// TestCallOnTerminal_real: on a terminal progress redraws one line, and ends have colours; a dumb terminal gets plain
// lines, and NO_COLOR switches colours off.
func TestCallOnTerminal_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	line, _ := p.DemoServer()
	for _, test := range []struct {
		env              []string
		redraws, colours bool
	}{
		{[]string{"TERM=xterm", "NO_COLOR="}, true, true},
		{[]string{"TERM=xterm", "NO_COLOR=1"}, true, false},
		{[]string{"TERM=dumb", "NO_COLOR="}, false, false},
	} {
		term := p.OnTerminal(test.env, "call", "--stdio", line, "sleep", "-a", "seconds=1", "-a", "steps=4", "--approve",
			"allow")
		status := term.Wait()
		said := term.Said.String()
		colours := strings.Contains(strings.ReplaceAll(said, console.ClearLine, ""), "\x1b[")
		if redraws := strings.Contains(said, console.ClearLine+"  ["); status != 0 || redraws != test.redraws ||
			colours != test.colours {
			t.Errorf("%q: status %d, redraws %v, colours %v\n%q", test.env, status, redraws, colours, said)
		}
		if plain := strings.Contains(said, "\n  1 of 4"); plain == test.redraws {
			t.Errorf("%q: a line for each step %v\n%q", test.env, plain, said)
		}
	}
}

// TestListsHaveColours_real: on a terminal a list colours the state of a server, unless NO_COLOR is set.
func TestListsHaveColours_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	file := p.Config("mcp.json", `{"mcpServers": {"off": {"command": "x", "disabled": true}, "odd": {"command": 7}}}`)
	for setting, want := range map[string]bool{"NO_COLOR=": true, "NO_COLOR=1": false} {
		term := p.OnTerminal([]string{"TERM=xterm", setting}, "servers", file)
		status := term.Wait()
		said := term.Said.String()
		if got := strings.Contains(said, "\x1b[31mbroken\x1b[0m"); status != 0 || got != want ||
			strings.Contains(said, "\x1b[") != want {
			t.Errorf("%s: status %d, colours %v\n%q", setting, status, got, said)
		}
	}
}
