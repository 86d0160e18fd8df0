package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestCallAsksForToolAndArguments_real: on a terminal a person is asked for what the command line does not say; after a
// mistake the question comes again, and the line that is printed at the end makes the same call.
func TestCallAsksForToolAndArguments_real(t *testing.T) {
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

	term = p.onTerminal([]string{"TERM=dumb"}, "call", file)
	term.expect("Server (number, name or part of it):")
	term.master.WriteString("\x04")
	if status := term.wait(); status != 2 {
		t.Errorf("the end of the input: status %d\n%s", status, term.said.String())
	}
	if r := p.run("call", file, "--server", "first"); r.status != 2 || !strings.Contains(r.stderr, "--tool") {
		t.Errorf("without a terminal: status %d, %s", r.status, r.stderr)
	}
}

// TestFormKeys_real: Esc goes back a question and leaves from the first one, Ctrl-C leaves at once, arrows edit the
// line. After leaving nothing is called, and the terminal shows again what is typed.
func TestFormKeys_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	file := p.config("mcp.json", fmt.Sprintf(`{"mcpServers": {
		"first": {"command": %q, "args": ["demo-server"]}, "second": {"command": "x"}}}`, p.path))
	const escape, left, interrupt = "\x1b", "\x1b[D", "\x03"
	const server, tool, text = "Server (number, name or part of it):", "Tool (number, name or part of it):", "text (string):"
	press := func(term *terminal, keys string) {
		t.Helper()
		if _, err := term.master.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	leaves := func(term *terminal, what string) {
		t.Helper()
		term.expect("nothing was called")
		if status := term.wait(); status != exitCancelled || strings.Contains(term.said.String(), "request ") {
			t.Errorf("%s: status %d\n%s", what, status, term.said.String())
		}
	}
	term := p.onTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file, "--approve", "allow")
	term.expect("Esc goes back, Ctrl-C leaves", server)
	term.enter("first")
	term.expect(tool)
	term.enter("echo")
	term.expect(text)
	press(term, "half")
	term.expect("half")
	press(term, escape)
	term.expect(tool)
	press(term, escape)
	term.expect(server)
	term.enter("1")
	term.expect(tool)
	term.enter("echo")
	term.expect(text)
	press(term, "ac"+left+"b\r")
	term.expect("The same again:", "first echo -a text=abc")
	if status := term.wait(); status != exitOK || !strings.Contains(term.said.String(), "\nabc\r\n") {
		t.Errorf("status %d\n%s", status, term.said.String())
	}

	term = p.onTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file)
	term.expect(server)
	press(term, escape)
	leaves(term, "Esc at the first question")

	term = p.onTerminal([]string{"TERM=xterm", "NO_COLOR=1"}, "call", file, "first")
	term.expect(tool)
	press(term, "ec"+interrupt)
	leaves(term, "Ctrl-C")
	if !shows(t, term.master) {
		t.Error("the terminal does not show what is typed any more")
	}
}
