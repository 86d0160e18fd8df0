package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestCallAsksForToolAndArguments: on a terminal a person is asked for what the command line does not say; mistakes are
// told and asked again, and the line that is printed does the same.
func TestCallAsksForToolAndArguments(t *testing.T) {
	t.Parallel()
	p := build(t)
	file := p.config("mcp.json", fmt.Sprintf(`{"mcpServers": {
		"first": {"command": %q, "args": ["demo-server"]}, "second": {"command": "x"}}}`, p.path))
	term := p.onTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file, "--approve", "allow")
	term.expect("Ctrl-C leaves", "1  first", "2  second", "Server (number, name or part of it):")
	term.enter("frist")
	term.expect(`did you mean "first"?`, "Server (number, name or part of it):")
	term.enter("1")
	term.expect("sleep", "Tool (number, name or part of it):")
	term.enter("echo")
	term.expect("text (string):")
	term.enter("it's me")
	term.expect("The same again:", "mcphub call --config "+file+" first echo -a 'text=it'\\''s me'")
	if status := term.wait(); status != 0 || !strings.Contains(term.said.String(), "\nit's me\r\n") {
		t.Errorf("status %d\n%s", status, term.said.String())
	}

	term = p.onTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file)
	term.expect("Server (number, name or part of it):")
	term.master.WriteString("\x04")
	if status := term.wait(); status != 2 {
		t.Errorf("the end of the input: status %d\n%s", status, term.said.String())
	}
	if r := p.run("call", file, "--server", "first"); r.status != 2 || !strings.Contains(r.stderr, "--tool") {
		t.Errorf("without a terminal: status %d, %s", r.status, r.stderr)
	}
}
