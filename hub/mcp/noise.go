package mcp

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	// noiseAfter is how long a server that starts may write other things than messages before somebody is told.
	noiseAfter = 2 * time.Second
	noiseLines = 5
	noiseBytes = 4 << 10 // of a line, before secrets are taken out of it
)

// noiseAdvice is what to do about a server that writes other things than messages on stdout.
const noiseAdvice = `stdout is for messages alone: logs belong on stderr, a wrapper may want to be quiet ` +
	`("npx", "--yes", "-q"), and some programs speak MCP only with an argument such as "stdio"`

// noise is what a server writes on stdout while it starts that is no message: the log of one that should use stderr,
// the banner of a wrapper, the usage of a program that wants an argument. It is told once, noiseAfter after the start
// began at the earliest, as there are servers that write a line and then start well.
type noise struct {
	printed func(line string) string
	tell    func(text string) // nil: nobody wants to know

	mu    sync.Mutex
	lines []string
	due   bool // noiseAfter is over
	told  bool
	timer *time.Timer
}

// begin starts the clock.
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

// end stops it: from now on nothing is told.
func (n *noise) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = true
	n.timer.Stop()
}

// heard takes a line that is no message. It is called by the reading goroutine and does not block.
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
		return // of a process that was started anew
	}
	n.lines = append(n.lines, text)
	if n.due && !n.told {
		n.timer.Reset(0) // not on this goroutine
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

// text says what was heard and what to do, "" when nothing was.
func (n *noise) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) == 0 {
		return ""
	}
	return "it wrote on stdout what is no message of the protocol: " + strings.Join(n.lines, " | ") + "; " + noiseAdvice
}
