package main

import (
	"slices"
	"strings"
	"testing"
)

// TestCallAsksOnTerminal_real: on a terminal a person is asked for consent, for inputs and for approval, in turn; the
// secret is not shown while it is typed, and only a yes lets the server start and the tool run.
func TestCallAsksOnTerminal_real(t *testing.T) {
	t.Parallel()
	const secret = "typed-s3cret"
	p := build(t)
	flags, record := p.folderWithServer()
	flags = slices.DeleteFunc(flags, func(s string) bool { return s == "--approve" || s == "allow" })
	term := p.onTerminal(nil, append([]string{"call"}, flags...)...)
	term.expect("command: "+p.path, "argument: --record", "Start server srv? [y/N] ")
	if ran(t, record) {
		t.Error("the server ran before the yes")
	}
	term.enter("y")
	term.expect("server srv needs the input token: Your token", "Value of token (not shown):")
	if err := until(t.Context(), "a terminal that hides what is typed", func() (bool, error) {
		return !shows(t, term.master), nil
	}); err != nil {
		t.Fatal(err)
	}
	term.enter(secret)
	term.expect("may echo run on srv?", `text: "hi"`, "[y/N] ")
	term.enter("y")
	if status := term.wait(); status != 0 || !strings.Contains(term.said.String(), "hi\r\n") {
		t.Errorf("status %d\n%s", status, term.said.String())
	}
	if strings.Contains(term.said.String(), secret) {
		t.Errorf("the screen shows the secret:\n%s", term.said.String())
	}

	line, _ := p.demoServer()
	for question, call := range map[string][]string{"Start server srv? [y/N] ": append(flags, "--approve", "allow"),
		"may echo run on stdio?": {"--stdio", line, "--tool", "echo", "--args", `{"text":"hi"}`}} {
		term = p.onTerminal(nil, append([]string{"call"}, call...)...)
		term.expect(question)
		term.enter("")
		if status := term.wait(); status != 5 {
			t.Errorf("Enter alone: status %d\n%s", status, term.said.String())
		}
	}
}
