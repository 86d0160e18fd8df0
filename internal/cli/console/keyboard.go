package console

import (
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/term"
)

var (
	// ErrBack is returned by a question if the person wants to go back to the one before.
	ErrBack = errors.New("nothing was chosen")
	// ErrOver is returned if the person ended the input.
	ErrOver = errors.New("nothing was chosen")
	// ErrLeft is returned if the person has left a form by Ctrl-C.
	ErrLeft = errors.New("left by Ctrl-C")
)

// Keyboard reads lines from a terminal key by key, so that Esc and the arrow keys do what they do elsewhere. Between
// the lines the terminal is in its normal mode. It belongs to one goroutine.
type Keyboard struct {
	in     *os.File
	out    io.Writer
	lines  *term.Terminal // nil after a line that was not completed, since its text would be part of the next line
	escape bool           // Esc was pressed alone
	left   bool           // Ctrl-C was pressed
}

// NewKeyboard returns a keyboard for a terminal that takes escape sequences, nil for any other input.
func NewKeyboard(env Streams) *Keyboard {
	if in := fileOf(env.In); in != nil && term.IsTerminal(int(in.Fd())) && takesEscapes(env.Err) {
		return &Keyboard{in: in, out: env.Err}
	}
	return nil
}

const (
	keyEscape    = 0x1b
	keyInterrupt = 0x03
)

// Read reads the keys. A terminal sends the sequence of an arrow key in one piece, so an escape character that comes
// alone is the key Esc. It ends the line as an interrupt does.
func (k *Keyboard) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	if n == 1 && p[0] == keyEscape {
		k.escape, p[0] = true, keyInterrupt
	} else if slices.Contains(p[:n], keyInterrupt) {
		k.left = true
	}
	return n, err
}

func (k *Keyboard) Write(p []byte) (int, error) { return k.out.Write(p) }

// Ask prints a question and reads a line. The errors are ErrBack, ErrLeft, and ErrOver for the end of the
// input.
func (k *Keyboard) Ask(question string) (line string, err error) {
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
		return "", ErrBack
	case left:
		return "", ErrLeft
	}
	return "", ErrOver
}
