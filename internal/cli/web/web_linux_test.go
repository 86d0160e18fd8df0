package web_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

var linkPattern = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/\?token=[A-Z0-9]+`)

// link waits for the next link on the terminal.
func link(term *clitest.Terminal) string {
	term.T.Helper()
	term.Expect("http://")
	from := term.From - len("http://")
	term.Expect("\n")
	text, _ := term.Said.Now()
	found := linkPattern.FindString(text[from:])
	if found == "" {
		term.T.Fatalf("no link after:\n%s", text[from:])
	}
	return found
}

// TestEnterPrintsAnotherLink_real: a link that is used up says how to get another one, Enter prints it, and Ctrl-C ends
// everything.
func TestEnterPrintsAnotherLink_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	p.Setenv("TMPDIR", p.Folder)
	term := p.OnTerminal(nil, "demo", "--web")
	term.Expect("Press Enter")
	first := link(term)
	b := clitest.BrowserAt(t, first)
	b.Tab("first")
	stranger := clitest.BrowserAt(t, first).Socket()
	defer stranger.CloseNow()
	_, _, err := stranger.Read(b.Ctx)
	if word, ok := errors.AsType[websocket.CloseError](err); !ok || word.Code != 4016 ||
		!strings.Contains(word.Reason, "Press Enter in the terminal") {
		t.Errorf("the second use gives %v", err)
	}
	term.Enter("")
	second := link(term)
	if second == first {
		t.Error("the same link again")
	}
	clitest.BrowserAt(t, second).Tab("second")
	b.Tab("again")
	term.Master.WriteString("\x03")
	if status := term.Wait(); status != 0 {
		t.Errorf("status %d\n%s", status, term.Said.String())
	}
}
