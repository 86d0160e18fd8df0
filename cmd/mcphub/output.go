package main

import (
	"io"
	"os"
	"sync"
)

// output is the standard output of a command. It remembers the first write that failed: a command whose output was lost
// has failed, whatever else it did. Safe for concurrent use.
type output struct {
	w io.Writer

	mu  sync.Mutex
	err error
}

// Write writes p, and never writes again once a write has failed: half an answer is not to be followed by another half.
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

// failed gives the first error of a write; nil: there was none.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf gives the file behind a standard stream; nil: it is none.
func fileOf(s any) *os.File {
	if o, ok := s.(*output); ok {
		s = o.w
	}
	f, _ := s.(*os.File)
	return f
}
