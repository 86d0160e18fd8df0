package main

import (
	"io"
	"os"
	"sync"
)

// output is the standard output of a command. It records the first write that failed: a command whose output was lost
// has failed. It is safe for concurrent use.
type output struct {
	w io.Writer

	mu  sync.Mutex
	err error
}

// Write writes p. After a write has failed it writes nothing more, so that no text follows half an answer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// failed returns the first error of a write, nil if there was none.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf returns the file of a standard stream, nil if it is not a file.
func fileOf(s any) *os.File {
	if o, ok := s.(*output); ok {
		s = o.w
	}
	f, _ := s.(*os.File)
	return f
}
