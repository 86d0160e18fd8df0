package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// typed is a line that a person has typed. over means that there is none and will be none: the input has ended.
type typed struct {
	text string
	over bool
}

// typist reads lines from a person, each only when it is asked for, so that each can be read in the way that its
// question needs. A read from a terminal cannot be called off: the goroutine of a line that never comes lives until the
// process ends. Its methods belong to one goroutine.
type typist struct {
	wanted chan bool // a line is wanted; true: a secret one
	lines  chan typed
	// restore puts the terminal back when a secret line was being typed; nil when the input is no terminal.
	restore func()
}

// newTypist reads from r.
func newTypist(r io.Reader) *typist {
	t := &typist{wanted: make(chan bool, 1), lines: make(chan typed, 1)}
	file, isFile := r.(*os.File)
	if isFile && term.IsTerminal(int(file.Fd())) {
		if state, err := term.GetState(int(file.Fd())); err == nil {
			t.restore = func() { _ = term.Restore(int(file.Fd()), state) }
		}
	}
	go func() {
		// A terminal gives at most one line for each read, so nothing that is typed later waits in here.
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

// want asks for a line; it comes on lines. The one that was wanted before must have come.
func (t *typist) want(secret bool) { t.wanted <- secret }

// close ends the reading, and shows again what is typed.
func (t *typist) close() {
	close(t.wanted)
	if t.restore != nil {
		t.restore()
	}
}

// sign prints what stands before the typed line.
func sign(w io.Writer, text string) { fmt.Fprint(w, text+" ") }
