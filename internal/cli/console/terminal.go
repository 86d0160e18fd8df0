// Package console is what commands print and read: the standard streams, text that is harmless on a terminal, tables,
// lines of JSON, colours, the line that shows progress, and typed lines.
//
// What must not live here: what is printed, and where it comes from.
package console

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Streams are the standard streams of a command.
type Streams struct {
	In  io.Reader
	Out *Output
	Err io.Writer
}

// Standard returns the streams of this process.
func Standard() Streams {
	s := Streams{os.Stdin, &Output{W: os.Stdout}, os.Stderr}
	if IsTerminal(os.Stderr) {
		s.Err = &Screen{w: os.Stderr, clears: takesEscapes(os.Stderr)}
	}
	return s
}

// Question writes a question for which a typed line is awaited. Other text stands above it, until Answered.
func (s Streams) Question(text string) {
	switch w := s.Err.(type) {
	case *Screen:
		w.ask(text)
	case *LiveLine:
		w.ask(text)
	default:
		fmt.Fprint(s.Err, text)
	}
}

// Answered says that the question was answered, or is no longer asked.
func (s Streams) Answered() {
	switch w := s.Err.(type) {
	case *Screen:
		w.ask("")
	case *LiveLine:
		w.ask("")
	}
}

// Screen is a terminal to which several goroutines write, and on which a question may stand: what is written meanwhile
// stands above the question, which is drawn anew, and not behind its sign. It is safe for concurrent use.
type Screen struct {
	w      io.Writer
	clears bool // it can clear a line

	mu       sync.Mutex
	question string
}

// ask shows a question; "" ends the present one.
func (s *Screen) ask(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.question = text
	_, _ = io.WriteString(s.w, text) // if the terminal is gone, no line will be typed
}

// Write writes whole lines while a question stands.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.question == "" || len(p) == 0 {
		return s.w.Write(p)
	}
	text := "\n" + strings.TrimSuffix(string(p), "\n") + "\n" + s.question
	if s.clears {
		text = ClearLine + text[1:]
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Say writes a line for people to stderr.
func (s Streams) Say(format string, args ...any) { fmt.Fprintf(s.Err, format+"\n", args...) }

// Tell is Say for a line that may be long: on a terminal it is broken at blanks, and all lines but the first are
// indented.
func (s Streams) Tell(format string, args ...any) {
	fmt.Fprint(s.Err, ForReading(s.Err, fmt.Sprintf(format, args...)))
}

// Interactive reports whether a person can be asked.
func (s Streams) Interactive() bool { return IsTerminal(s.In) && IsTerminal(s.Err) }

// Output is the standard output of a command. It records the first write that failed: a command whose output was lost
// has failed. It is safe for concurrent use.
type Output struct {
	W io.Writer

	mu  sync.Mutex
	err error
}

// Write writes p. After a write has failed it writes nothing more, so that no text follows half an answer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.W.Write(p)
	o.err = err
	return n, err
}

// Failed returns the first error of a write, nil if there was none.
func (o *Output) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf returns the file of a standard stream, nil if it is not a file.
func fileOf(s any) *os.File {
	switch w := s.(type) {
	case *Output:
		s = w.W
	case *LiveLine:
		return fileOf(w.w)
	case *Screen:
		s = w.w
	}
	f, _ := s.(*os.File)
	return f
}

// takesEscapes reports whether w is a terminal that takes escape sequences. TERM says that, and WT_SESSION on Windows.
func takesEscapes(w io.Writer) bool {
	said := os.Getenv("TERM")
	if runtime.GOOS == "windows" {
		said = os.Getenv("WT_SESSION")
	}
	return IsTerminal(w) && said != "" && said != "dumb"
}

// Colours, as terminals number them.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
)

// hasColours reports whether output to w may be coloured (https://no-color.org).
func hasColours(w io.Writer) bool { return takesEscapes(w) && os.Getenv("NO_COLOR") == "" }

// Paint returns s in a colour if w takes colours; "" is none.
func Paint(w io.Writer, colour, s string) string {
	if colour == "" || s == "" || !hasColours(w) {
		return s
	}
	return painted(colour, s)
}

func painted(colour, s string) string { return "\x1b[" + colour + "m" + s + "\x1b[0m" }

// LiveLine writes to a terminal whose last line shows the current progress. Any other output replaces that line, which
// appears again below with the next progress. It is safe for concurrent use.
type LiveLine struct {
	width func() int // width of the terminal, 0 if it is not known any more

	// mu guards the fields below, and the order of the writes.
	mu    sync.Mutex
	w     io.Writer
	shown bool // the line is visible
	open  bool // the last write did not end its line
	asks  bool // a question waits for an answer
}

// NewLiveLine returns a LiveLine for w if w is a terminal that can clear a line, otherwise nil.
func NewLiveLine(w io.Writer) *LiveLine {
	if !takesEscapes(w) {
		return nil
	}
	return &LiveLine{w: w, width: func() int { return terminalWidth(w) }}
}

// ClearLine clears the line of the cursor.
const ClearLine = "\r\x1b[K"

// Write writes text that stays on the terminal.
func (l *LiveLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hide()
	if len(p) > 0 {
		l.open = p[len(p)-1] != '\n'
	}
	return l.w.Write(p)
}

// ask shows a question; "" ends the present one.
func (l *LiveLine) ask(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hide()
	l.asks = text != ""
	if screen, ok := l.w.(*Screen); ok {
		screen.ask(text)
	} else {
		_, _ = io.WriteString(l.w, text) // if the terminal is gone, no line will be typed
	}
}

// hide clears the line. mu is held.
func (l *LiveLine) hide() {
	if l.shown {
		l.shown = false
		_, _ = io.WriteString(l.w, ClearLine) // if the terminal is gone, the next write of other text fails
	}
}

// Clear clears the line before others write to the terminal.
func (l *LiveLine) Clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hide()
}

// show shows text on the line, in place of the present text, cut to the width of the terminal. While a question waits
// for an answer, it does nothing.
func (l *LiveLine) show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width := l.width()
	if l.open || l.asks || width < 10 {
		return
	}
	l.shown = true
	_, _ = io.WriteString(l.w, ClearLine+CutColumns(text, width-1))
}

// ShowProgress shows the progress of a request: a bar if the total is known, and the text of the server.
func (l *LiveLine) ShowProgress(p *mcphubv1.Progress) {
	bar := ""
	if width := l.width(); p.Total != nil && p.GetTotal() > 0 && width >= 50 {
		const cells = 20
		done := int(min(max(p.GetProgress()/p.GetTotal(), 0), 1) * cells)
		bar = "[" + strings.Repeat("=", done) + strings.Repeat(" ", cells-done) + "] "
	}
	l.show("  " + bar + Escape(ProgressText(p)))
}

// ProgressText describes the progress of a request.
func ProgressText(p *mcphubv1.Progress) string {
	s := number(p.GetProgress())
	if p.Total != nil {
		s += " of " + number(p.GetTotal())
	}
	if p.GetMessage() != "" {
		s += "  " + p.GetMessage()
	}
	return s
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }
