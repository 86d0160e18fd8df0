package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var linkPattern = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/\?token=[A-Z0-9]+`)

// link waits for the next link on the terminal.
func (term *terminal) link() string {
	term.t.Helper()
	term.expect("http://")
	from := term.from - len("http://")
	term.expect("\n")
	text, _ := term.said.now()
	found := linkPattern.FindString(text[from:])
	if found == "" {
		term.t.Fatalf("no link after:\n%s", text[from:])
	}
	return found
}

// TestEnterPrintsAnotherLink_real: a link that is used up says how to get another one, Enter prints it, and Ctrl-C ends
// everything.
func TestEnterPrintsAnotherLink_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	p.setenv("TMPDIR", p.dir)
	term := p.onTerminal(nil, "demo", "--web")
	term.expect("Press Enter")
	first := term.link()
	b := browserAt(t, first)
	stranger := &siteBrowser{t: t, ctx: b.ctx, address: b.address}
	if status, body := stranger.get(first); status != http.StatusForbidden ||
		!strings.Contains(body, "Press Enter in the terminal") {
		t.Errorf("the second use gives %d\n%s", status, body)
	}
	term.enter("")
	second := term.link()
	if second == first {
		t.Error("the same link again")
	}
	browserAt(t, second)
	if status, _ := b.get(b.address + "/"); status != http.StatusOK {
		t.Errorf("the first browser gets %d now", status)
	}
	term.master.WriteString("\x03")
	if status := term.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, term.said.String())
	}
}
