package console

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// Streams are the standard streams of a command.
type Streams struct {
	In  io.Reader
	Out *Output
	Err io.Writer
}

// Standard returns the streams of this process.
func Standard() Streams { return Streams{os.Stdin, &Output{W: os.Stdout}, os.Stderr} }

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
		s = w.w
	}
	f, _ := s.(*os.File)
	return f
}
