package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"
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
	tb := b.tab("first")
	tb.snapshot()
	stranger := browserAt(t, first).socket()
	defer stranger.CloseNow()
	_, _, err := stranger.Read(b.ctx)
	if word, ok := errors.AsType[websocket.CloseError](err); !ok || word.Code != 4016 ||
		!strings.Contains(word.Reason, "Press Enter in the terminal") {
		t.Errorf("the second use gives %v", err)
	}
	term.enter("")
	second := term.link()
	if second == first {
		t.Error("the same link again")
	}
	browserAt(t, second).tab("second").snapshot()
	b.tab("again").snapshot()
	term.master.WriteString("\x03")
	if status := term.wait(); status != 0 {
		t.Errorf("status %d\n%s", status, term.said.String())
	}
}
