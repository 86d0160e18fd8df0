package main

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// twoServers is a config with the demo server and another one.
func (p *program) twoServers() string {
	return p.config("mcp.json", fmt.Sprintf(`{"mcpServers": {
		"first": {"command": %q, "args": ["demo-server"]}, "second": {"command": "x"}}}`, p.path))
}

// TestCallAsksInLines: who wants plain lines, or has a terminal that takes nothing else, is asked in them; mistakes are
// told and asked again, and the line that is printed does the same.
func TestCallAsksInLines(t *testing.T) {
	t.Parallel()
	p := build(t)
	file := p.twoServers()
	term := p.onTerminal([]string{"TERM=xterm", "NO_COLOR=1", "ACCESSIBLE=1"}, "call", file, "--approve", "allow")
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
	if strings.Contains(term.said.String(), "\x1b[?25l") {
		t.Errorf("a form was drawn:\n%q", term.said.String())
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

var colour = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m`)

// TestFormKeys: what is typed filters, arrows edit, Esc goes a question back and in the end leaves, Ctrl-C leaves at
// once, as a signal does; nothing is called then, and the terminal shows again what is typed.
func TestFormKeys(t *testing.T) {
	t.Parallel()
	p := build(t)
	file := p.twoServers()
	const escape, left, down, interrupt = "\x1b", "\x1b[D", "\x1b[B", "\x03"
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
		if !shows(t, term.master) {
			t.Errorf("%s: the terminal does not show what is typed any more", what)
		}
	}
	term := p.onTerminal([]string{"TERM=xterm", "NO_COLOR=yes"}, "call", file, "--approve", "allow")
	term.expect("Esc goes back, Ctrl-C leaves", "Server", "first", "second")
	press(term, "\r")
	term.expect("Server: first", "add_tool")
	press(term, "echo")
	term.expect("Says the text back")
	press(term, "\r")
	term.expect("Tool: echo", "text (string)")
	press(term, "half")
	term.expect("half")
	press(term, escape)
	term.expect("add_tool")
	press(term, escape)
	term.expect("Server", "second")
	press(term, down+left+"\x1b[A\r")
	term.expect("Server: first", "add_tool")
	press(term, "echo\r")
	term.expect("Tool: echo", "text (string)")
	press(term, "ac"+left+"b\r")
	term.expect("text: abc", "The same again:", "first echo -a text=abc")
	if status := term.wait(); status != exitOK || !strings.Contains(term.said.String(), "\nabc\r\n") {
		t.Errorf("status %d\n%s", status, term.said.String())
	}
	if colour.MatchString(term.said.String()) {
		t.Errorf("it has colours under NO_COLOR:\n%q", term.said.String())
	}

	term = p.onTerminal([]string{"TERM=xterm"}, "call", file)
	term.expect("second")
	press(term, escape)
	leaves(term, "Esc at the first question")

	term = p.onTerminal([]string{"TERM=xterm"}, "call", file, "first")
	term.expect("add_tool")
	press(term, "ec"+interrupt)
	leaves(term, "Ctrl-C")

	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		term = p.onTerminal([]string{"TERM=xterm"}, "call", file, "first")
		term.expect("add_tool")
		if err := term.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		leaves(term, signal.String())
	}
}
