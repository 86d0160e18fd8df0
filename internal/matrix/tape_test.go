package matrix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// tape keeps what crosses the wire, as the server sees it, and what the windows are told, by the steps of a cell. Over
// HTTP each line names its exchange.
type tape struct {
	mu      sync.Mutex // guards what follows
	steps   []*step
	ending  bool          // the hub is being closed
	changed chan struct{} // closed and replaced with every line
}

type step struct {
	title string // "" is not shown
	// its exchanges are independent of each other: they are shown one after the other, in the order of their names
	loose  bool
	wire   []*entry
	window []string
}

// entry is one line: of an exchange over HTTP, of no exchange else.
type entry struct{ exchange, text string }

func newTape() *tape {
	return &tape{steps: []*step{{}}, changed: make(chan struct{})}
}

// begin starts a step: what comes from now on belongs to it. Cells do it when nothing moves.
func (t *tape) begin(title string, loose bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, &step{title: title, loose: loose})
	t.tell()
}

// finish notes that the hub is being closed.
func (t *tape) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ending = true
}

func (t *tape) finishing() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ending
}

func (t *tape) tell() { // called with mu held
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tape) line(exchange, format string, args ...any) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, e := t.steps[len(t.steps)-1], &entry{exchange, plain(fmt.Sprintf(format, args...))}
	s.wire = append(s.wire, e)
	t.tell()
	return e
}

// amend adds to a line what came of it, where the order of that among other lines means nothing.
func (t *tape) amend(e *entry, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.text += text
	t.tell()
}

// hubsOwn is an id that a hub gave out: it names the hub, and each run has another one.
var hubsOwn = regexp.MustCompile(`\b(start|call|ask|prompt)-[a-z2-7]{6}-([0-9]+)\b`)

func (t *tape) windowLine(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.steps[len(t.steps)-1]
	s.window = append(s.window, hubsOwn.ReplaceAllString(fmt.Sprintf(format, args...), "$1-$2"))
	t.tell()
}

// has tells whether the wire has such a line, in whatever step, and what closes when there is more to look at.
func (t *tape) has(exchange, text string) (bool, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.steps {
		if slices.ContainsFunc(s.wire, func(e *entry) bool {
			return strings.HasPrefix(e.exchange, exchange) && strings.HasPrefix(e.text, text)
		}) {
			return true, t.changed
		}
	}
	return false, t.changed
}

// current gives the number of the current step among those that are shown, from 1, and 0 for one that is not; its text;
// and what closes when there is more of it.
func (t *tape) current() (n int, text string, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.steps[len(t.steps)-1]
	if last.title == "" {
		return 0, "", t.changed
	}
	for _, s := range t.steps {
		if s.title != "" {
			n++
		}
	}
	return n, last.text(), t.changed
}

// text is the whole transcript.
func (t *tape) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, s := range t.steps {
		b.WriteString(s.text())
	}
	return b.String()
}

func (s *step) text() string {
	if s.title == "" {
		return ""
	}
	lines := s.wire
	if s.loose {
		lines = slices.Clone(lines)
		slices.SortStableFunc(lines, func(a, b *entry) int { return strings.Compare(a.exchange, b.exchange) })
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", s.title)
	for _, e := range lines {
		if e.exchange != "" {
			fmt.Fprintf(&b, "[%s] ", e.exchange)
		}
		b.WriteString(e.text + "\n")
	}
	for _, w := range s.window {
		b.WriteString("window: " + w + "\n")
	}
	b.WriteString("\n")
	return b.String()
}

// modernMeta is what each request of 2026-07-28 carries in its _meta besides what is its own. The transcripts of the
// start show it in full.
var modernMeta = regexp.MustCompile(
	`"io\.modelcontextprotocol/protocolVersion":"2026-07-28","io\.modelcontextprotocol/clientInfo":\{[^}]*\},"io\.modelcontextprotocol/clientCapabilities":` + clientCapabilities)

const clientCapabilities = `\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}`

var sessionIDs = regexp.MustCompile(`session-[0-9]+`)

// taskTokens: the progress token of a task has a part that is random.
var taskTokens = regexp.MustCompile(`"(p[0-9]+)-[A-Z2-7]{26}"`)

// plain takes out of a line what differs between runs, or is the same on every line.
func plain(text string) string {
	text = taskTokens.ReplaceAllString(text, `"$1-<random>"`)
	return sessionIDs.ReplaceAllString(modernMeta.ReplaceAllString(text, "<modern>"), "<session>")
}
