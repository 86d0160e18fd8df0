package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
