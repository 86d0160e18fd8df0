package main

import (
	"os"
	"testing"
)

// TestCallSignInOnTerminal_real: on a terminal no flag is needed: the address is shown, and Ctrl-C cancels.
func TestCallSignInOnTerminal_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	a := newAuthority(&p.settings)
	term := p.onTerminal(nil, a.echoOf()...)
	a.signIn(t, &term.said)
	term.expect("signed in\r\n")
	if status := term.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, term.said.String())
	}

	if err := os.RemoveAll(p.dir + "/state"); err != nil {
		t.Fatal(err)
	}
	term = p.onTerminal(nil, a.echoOf()...)
	term.expect("waiting until you have signed in")
	if _, err := term.master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if status := term.wait(); status != 3 {
		t.Errorf("Ctrl-C: status %d\n%s", status, term.said.String())
	}
}
