package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// typed is a line that a person has typed. over means that there is no line, and that none will follow, since the input
// has ended.
type typed struct {
	text string
	over bool
}

// typist reads lines from a person. It reads each line only on request, so that each can be read in the way that its
// question needs. A read from a terminal cannot be interrupted: if the line never comes, the goroutine lives until the
// process ends. Its methods belong to one goroutine.
type typist struct {
	wanted chan bool // gets a value for each requested line; true: the line is secret
	lines  chan typed
	// restore restores the terminal's mode if a secret line was being typed; nil if the input is not a terminal.
	restore func()
}

// newTypist returns a typist that reads from r.
func newTypist(r io.Reader) *typist {
	t := &typist{wanted: make(chan bool, 1), lines: make(chan typed, 1)}
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
			line := typed{over: true}
			if secret && t.restore != nil {
				text, err := term.ReadPassword(int(file.Fd()))
				line = typed{string(text), err != nil}
			} else if scanner.Scan() {
				line = typed{text: scanner.Text()}
			}
			t.lines <- line
		}
	}()
	return t
}

// want requests a line, which comes on lines. The line that was requested before must have come.
func (t *typist) want(secret bool) { t.wanted <- secret }

// close stops the reading, and makes typed text visible again.
func (t *typist) close() {
	close(t.wanted)
	if t.restore != nil {
		t.restore()
	}
}

// sign prints the text in front of a typed line.
func sign(w io.Writer, text string) { fmt.Fprint(w, text+" ") }

// interactive reports whether a person can be asked.
func (e environment) interactive() bool { return isTerminal(e.stdin) && isTerminal(e.stderr) }

// ask asks the person for one line. Nothing else may read the input meanwhile.
func (e environment) ask(question string, secret bool) typed {
	t := newTypist(e.stdin)
	defer t.close()
	sign(e.stderr, question)
	t.want(secret)
	line := <-t.lines
	if secret {
		e.say("") // a secret line is typed without its line end being shown
	}
	return line
}
