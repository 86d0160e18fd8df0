package call_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestCallAsksForToolAndArguments_real: on a terminal a person is asked for what the command line does not say; after a
// mistake the question comes again, and the line that is printed at the end makes the same call.
func TestCallAsksForToolAndArguments_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	file := p.Config("mcp.json", fmt.Sprintf(`{"mcpServers": {
		"first": {"command": %q, "args": ["demo-server"]}, "second": {"command": "x"}}}`, p.Binary))
	term := p.OnTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file, "--approve", "allow")
	term.Expect("Ctrl-C leaves", "1  first", "2  second", "Server (number, name or part of it):")
	term.Enter("frist")
	term.Expect(`did you mean "first"?`, "Server (number, name or part of it):")
	term.Enter("1")
	term.Expect("sleep", "Tool (number, name or part of it):")
	term.Enter("echo")
	term.Expect("text (string):")
	term.Enter("it's me")
	term.Expect("The same again:", "mcphub call --config "+file+" first echo -a 'text=it'\\''s me'")
	if status := term.Wait(); status != 0 || !strings.Contains(term.Said.String(), "\nit's me\r\n") {
		t.Errorf("status %d\n%s", status, term.Said.String())
	}

	term = p.OnTerminal([]string{"TERM=dumb"}, "call", file)
	term.Expect("Server (number, name or part of it):")
	term.Master.WriteString("\x04")
	if status := term.Wait(); status != 2 {
		t.Errorf("the end of the input: status %d\n%s", status, term.Said.String())
	}
	if r := p.Run("call", file, "--server", "first"); r.Status != 2 || !strings.Contains(r.Stderr, "--tool") {
		t.Errorf("without a terminal: status %d, %s", r.Status, r.Stderr)
	}
}

// TestFormKeys_real: Esc goes back a question and leaves from the first one, Ctrl-C leaves at once, arrows edit the
// line. After leaving nothing is called, and the terminal shows again what is typed.
func TestFormKeys_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	file := p.Config("mcp.json", fmt.Sprintf(`{"mcpServers": {
		"first": {"command": %q, "args": ["demo-server"]}, "second": {"command": "x"}}}`, p.Binary))
	const escape, left, interrupt = "\x1b", "\x1b[D", "\x03"
	const server, tool, text = "Server (number, name or part of it):", "Tool (number, name or part of it):", "text (string):"
	press := func(term *clitest.Terminal, keys string) {
		t.Helper()
		if _, err := term.Master.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	leaves := func(term *clitest.Terminal, what string) {
		t.Helper()
		term.Expect("nothing was called")
		if status := term.Wait(); status != exit.Cancelled || strings.Contains(term.Said.String(), "request ") {
			t.Errorf("%s: status %d\n%s", what, status, term.Said.String())
		}
	}
	term := p.OnTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file, "--approve", "allow")
	term.Expect("Esc goes back, Ctrl-C leaves", server)
	term.Enter("first")
	term.Expect(tool)
	term.Enter("echo")
	term.Expect(text)
	press(term, "half")
	term.Expect("half")
	press(term, escape)
	term.Expect(tool)
	press(term, escape)
	term.Expect(server)
	term.Enter("1")
	term.Expect(tool)
	term.Enter("echo")
	term.Expect(text)
	press(term, "ac"+left+"b\r")
	term.Expect("The same again:", "first echo -a text=abc")
	if status := term.Wait(); status != exit.OK || !strings.Contains(term.Said.String(), "\nabc\r\n") {
		t.Errorf("status %d\n%s", status, term.Said.String())
	}

	term = p.OnTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file)
	term.Expect(server)
	press(term, escape)
	leaves(term, "Esc at the first question")

	term = p.OnTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file, "first")
	term.Expect(tool)
	press(term, "ec"+interrupt)
	leaves(term, "Ctrl-C")
	if !clitest.Shows(t, term.Master) {
		t.Error("the terminal does not show what is typed any more")
	}
}
