package matrix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// tape records the messages on the wire, as the server sees them, and the events of the window, for each step of a
// cell. Over HTTP each line names its exchange.
type tape struct {
	mu      sync.Mutex // guards what follows
	steps   []*step
	ending  bool          // the hub is being closed
	changed chan struct{} // closed and replaced with every line
}

type step struct {
	title string // "" is not shown
	// The exchanges of a loose step are independent of each other, and so is what the window is told of several requests
	// and prompts. They are written one after the other, sorted by their names.
	loose   bool
	wire    []*entry
	window  []string
	callers []string // whose order is that of goroutines
}

// entry is one line on the wire. exchange is empty over stdio.
type entry struct{ exchange, text string }

func newTape() *tape {
	return &tape{steps: []*step{{}}, changed: make(chan struct{})}
}

// begin starts a step. All that comes from now on belongs to it. Cells call it when nothing happens any more.
func (t *tape) begin(title string, loose bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, &step{title: title, loose: loose})
	t.tell()
}

// finish records that the hub is being closed.
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

// amend adds a status to a line. It is used where the order of the status among other lines does not matter.
func (t *tape) amend(e *entry, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.text += text
	t.tell()
}

// hubsOwn matches an id that the hub made. Such an id has a part that differs in each run.
var hubsOwn = regexp.MustCompile(`\b(start|call|ask|prompt)-[a-z2-7]{6}-([0-9]+)\b`)

func (t *tape) windowLine(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.steps[len(t.steps)-1]
	s.window = append(s.window, hubsOwn.ReplaceAllString(fmt.Sprintf(format, args...), "$1-$2"))
	t.tell()
}

// callerLine records what somebody who called or ordered something was told.
func (t *tape) callerLine(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.steps[len(t.steps)-1]
	s.callers = append(s.callers, fmt.Sprintf(format, args...))
	t.tell()
}

// has reports whether any step has such a line on the wire. The channel is closed when there are more lines.
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

// current returns the number of the current step among those with a title, counted from 1, and its text. The number is
// 0 if the step has no title. The channel is closed when there are more lines.
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

// text returns the whole transcript.
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
	lines, window := s.wire, s.window
	if s.loose {
		lines, window = slices.Clone(lines), slices.Clone(window)
		slices.SortStableFunc(lines, func(a, b *entry) int { return strings.Compare(a.exchange, b.exchange) })
		slices.SortStableFunc(window, func(a, b string) int {
			a, _, _ = strings.Cut(a, " ")
			b, _, _ = strings.Cut(b, " ")
			return strings.Compare(a, b)
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", s.title)
	for _, e := range lines {
		if e.exchange != "" {
			fmt.Fprintf(&b, "[%s] ", e.exchange)
		}
		b.WriteString(e.text + "\n")
	}
	for _, c := range slices.Sorted(slices.Values(s.callers)) {
		b.WriteString("caller: " + c + "\n")
	}
	for _, w := range window {
		b.WriteString("window: " + w + "\n")
	}
	return b.String()
}

// modernMeta matches the _meta members that every request of 2026-07-28 has. The transcripts of the start show them in
// full.
var modernMeta = regexp.MustCompile(
	`"io\.modelcontextprotocol/protocolVersion":"2026-07-28","io\.modelcontextprotocol/clientInfo":\{[^}]*\},"io\.modelcontextprotocol/clientCapabilities":` + clientCapabilities)

const clientCapabilities = `\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}`

var sessionIDs = regexp.MustCompile(`session-[0-9]+`)

// taskTokens matches the progress token of a task, which has a random part.
var taskTokens = regexp.MustCompile(`"(p[0-9]+)-[A-Z2-7]{26}"`)

// plain removes from a line what differs between runs, and what is the same on every line.
func plain(text string) string {
	text = taskTokens.ReplaceAllString(text, `"$1-<random>"`)
	return sessionIDs.ReplaceAllString(modernMeta.ReplaceAllString(text, "<modern>"), "<session>")
}
