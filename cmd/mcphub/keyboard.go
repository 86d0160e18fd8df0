package main

import (
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/term"
)

var (
	// errBack is the end of a question whose person wants the one before again.
	errBack = errors.New("nothing was chosen")
	// errLeft is the end of a form that the person has left by Ctrl-C.
	errLeft = errors.New("left by Ctrl-C")
)

// keyboard reads lines from a terminal key by key, so that Esc and the arrows do what they do elsewhere. The terminal
// is as it was between the lines. It belongs to one goroutine.
type keyboard struct {
	in     *os.File
	out    io.Writer
	lines  *term.Terminal // nil after a line that did not come to its end: it would be in the next one
	escape bool           // Esc was pressed, and nothing with it
	left   bool           // Ctrl-C was
}

// newKeyboard gives one for a terminal that takes escape sequences, nil for any other.
func newKeyboard(env environment) *keyboard {
	if in := fileOf(env.stdin); in != nil && term.IsTerminal(int(in.Fd())) && takesEscapes(env.stderr) {
		return &keyboard{in: in, out: env.stderr}
	}
	return nil
}

const (
	keyEscape    = 0x1b
	keyInterrupt = 0x03
)

// Read gives the keys to the reader of lines. A terminal sends the sequence of an arrow as one; an escape that comes
// alone is the key, and ends the line as an interrupt does.
func (k *keyboard) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	if n == 1 && p[0] == keyEscape {
		k.escape, p[0] = true, keyInterrupt
	} else if slices.Contains(p[:n], keyInterrupt) {
		k.left = true
	}
	return n, err
}

func (k *keyboard) Write(p []byte) (int, error) { return k.out.Write(p) }

// ask reads a line behind a question. The errors are errBack, errLeft, and errNothingChosen for the end of the input.
func (k *keyboard) ask(question string) (line string, err error) {
	state, err := term.MakeRaw(int(k.in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(k.in.Fd()), state) }()
	if k.lines == nil {
		k.lines = term.NewTerminal(k, "")
	}
	if width, height, err := term.GetSize(int(k.in.Fd())); err == nil && width > 0 {
		_ = k.lines.SetSize(width, height)
	}
	k.lines.SetPrompt(question + " ")
	if line, err = k.lines.ReadLine(); err == nil {
		return line, nil
	}
	k.lines = nil
	if _, err := io.WriteString(k.out, "\r\n"); err != nil {
		return "", err
	}
	switch escape, left := k.escape, k.left; {
	case escape:
		k.escape = false
		return "", errBack
	case left:
		return "", errLeft
	}
	return "", errNothingChosen
}
