package console

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Typed is a line that a person has typed. over means that there is no line, and that none will follow, since the input
// has ended.
type Typed struct {
	Text string
	Over bool
}

// Typist reads lines from a person. It reads each line only on request, so that each can be read in the way that its
// question needs. A read from a terminal cannot be interrupted: if the line never comes, the goroutine lives until the
// process ends. Its methods belong to one goroutine.
type Typist struct {
	wanted chan bool // gets a value for each requested line; true: the line is secret
	Lines  chan Typed
	// restore restores the terminal's mode if a secret line was being typed; nil if the input is not a terminal.
	restore func()
}

// NewTypist returns a typist that reads from r.
func NewTypist(r io.Reader) *Typist {
	t := &Typist{wanted: make(chan bool, 1), Lines: make(chan Typed, 1)}
	file, isFile := r.(*os.File)
	if isFile && term.IsTerminal(int(file.Fd())) {
		if state, err := term.GetState(int(file.Fd())); err == nil {
			t.restore = func() { _ = term.Restore(int(file.Fd()), state) }
		}
	}
	go func() {
		// A read from a terminal returns at most one line, so nothing that is typed later is buffered here.
		scanner := bufio.NewScanner(r)
		for secret := range t.wanted {
			line := Typed{Over: true}
			if secret && t.restore != nil {
				text, err := term.ReadPassword(int(file.Fd()))
				line = Typed{string(text), err != nil}
			} else if scanner.Scan() {
				line = Typed{Text: scanner.Text()}
			}
			t.Lines <- line
		}
	}()
	return t
}

// Want requests a line, which comes on lines. The line that was requested before must have come.
func (t *Typist) Want(secret bool) { t.wanted <- secret }

// Close stops the reading, and makes typed text visible again.
func (t *Typist) Close() {
	close(t.wanted)
	if t.restore != nil {
		t.restore()
	}
}

// Ask prints a question and reads a line.
func (t *Typist) Ask(w io.Writer, question string, secret bool) Typed {
	fmt.Fprint(w, question+" ")
	t.Want(secret)
	return <-t.Lines
}

// Ask asks the person for one line. Nothing else may read the input meanwhile.
func (s Streams) Ask(question string, secret bool) Typed {
	t := NewTypist(s.In)
	defer t.Close()
	line := t.Ask(s.Err, question, secret)
	if secret {
		s.Say("") // a secret line is typed without its line end being shown
	}
	return line
}

// IsYes reports whether a typed line agrees.
func IsYes(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// ReadLines sends the lines of r on the channel, and closes it at the end of r. A read from a terminal cannot be
// interrupted: the goroutine lives until the input or the process ends.
func ReadLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(r); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}
