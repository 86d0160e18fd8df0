package mcp

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	// noiseAfter is how long a starting server may write text that is no message before that is reported.
	noiseAfter = 2 * time.Second
	noiseLines = 5
	noiseBytes = 4 << 10 // of a line, before secrets are removed
)

// noiseAdvice is the advice for a server that writes text that is no message on stdout.
const noiseAdvice = `stdout is for messages alone: logs belong on stderr, a wrapper may want to be quiet ` +
	`("npx", "--yes", "-q"), and some programs speak MCP only with an argument such as "stdio"`

// noise collects what a server writes on stdout while it starts that is no message: the log of a server that should use
// stderr, the banner of a wrapper, the usage text of a program that needs an argument. It is reported once, not earlier
// than noiseAfter after the start began, because some servers write a line and then start well.
type noise struct {
	printed func(line string) string
	tell    func(text string) // may be nil

	mu    sync.Mutex
	lines []string
	due   bool // noiseAfter is over
	told  bool
	timer *time.Timer
}

// begin starts the timer.
func (n *noise) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.timer = time.AfterFunc(noiseAfter, func() {
		n.mu.Lock()
		n.due = true
		n.mu.Unlock()
		n.say()
	})
}

// end stops the timer: from now on nothing is reported.
func (n *noise) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = true
	n.timer.Stop()
}

// heard adds a line that is no message. It is called by the reading goroutine and does not block.
func (n *noise) heard(line []byte) {
	text := strings.ToValidUTF8(string(line[:min(len(line), noiseBytes)]), "\uFFFD")
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) == noiseLines || strings.TrimSpace(text) == "" {
		return
	}
	if n.printed != nil {
		text = n.printed(text)
	}
	if text = bounds.Printable(strings.TrimSpace(text)); slices.Contains(n.lines, text) {
		return // the same line of a process that was started again
	}
	n.lines = append(n.lines, text)
	if n.due && !n.told {
		n.timer.Reset(0) // report on another goroutine
	}
}

func (n *noise) say() {
	text := n.text()
	n.mu.Lock()
	tell := !n.told && text != "" && n.tell != nil
	n.told = n.told || tell
	n.mu.Unlock()
	if tell {
		n.tell(text)
	}
}

// text returns what was written and the advice, or "" if nothing was.
func (n *noise) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) == 0 {
		return ""
	}
	return "it wrote on stdout what is no message of the protocol: " + strings.Join(n.lines, " | ") + "; " + noiseAdvice
}
