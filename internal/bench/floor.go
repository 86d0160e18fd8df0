package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
)

// The exact bytes of a request, except for the id. The requests of the library clients differ from them at most in the
// order of the members.
const (
	callHead   = `{"jsonrpc":"2.0","id":`
	callMiddle = `,"method":"tools/call","params":`
	callParams = `{"name":"echo","arguments":{"text":"the quick brown fox jumps over the lazy dog"},"_meta":{"progressToken":17}}`
)

// byteLoop is the floor. It costs only what a client cannot avoid: to write requests into a pipe, to read lines from
// another pipe, to find the id by a search for bytes, and to keep a table of the pending requests. One goroutine does
// all this. Each request is a write of its own, because each call is a separate event for a client. The batched loop
// writes all requests that are due at once. Only a program that knows its next calls beforehand can do that.
type byteLoop struct {
	cmd     *exec.Cmd
	batched bool
	w       *os.File
	r       *os.File

	pending    map[int64]struct{}
	last       int64
	out, in    []byte
	start, end int
}

func openByteLoop(o options, name string) (subject, error) {
	l := &byteLoop{batched: name == batchedName, cmd: exec.Command(o.bin.echo), pending: map[int64]struct{}{},
		in: make([]byte, 64<<10)}
	stdin, w, err := os.Pipe()
	if err != nil {
		return subject{}, err
	}
	r, stdout, err := os.Pipe()
	if err != nil {
		return subject{}, errors.Join(err, stdin.Close(), w.Close())
	}
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr, l.w, l.r = stdin, stdout, os.Stderr, w, r
	err = l.cmd.Start()
	_, _ = stdin.Close(), stdout.Close()
	if err != nil {
		return subject{}, errors.Join(err, w.Close(), r.Close())
	}
	return subject{name: name, pump: l.pump, close: func() {
		_ = w.Close() // the server ends with its input
		_ = l.cmd.Wait()
		_ = r.Close()
	}}, nil
}

func (l *byteLoop) pump(parallel int, stop *atomic.Bool) (calls int, err error) {
	for {
		if !stop.Load() {
			if err := l.send(parallel); err != nil {
				return calls, err
			}
		} else if len(l.pending) == 0 {
			return calls, nil
		}
		n, err := l.receive()
		if err != nil {
			return calls, err
		}
		calls += n
	}
}

// send fills up the calls in flight to parallel.
func (l *byteLoop) send(parallel int) error {
	l.out = l.out[:0]
	for len(l.pending) < parallel {
		l.last++
		l.pending[l.last] = struct{}{}
		l.out = append(l.out, callHead...)
		l.out = strconv.AppendInt(l.out, l.last, 10)
		l.out = append(l.out, callMiddle...)
		l.out = append(l.out, callParams...)
		l.out = append(l.out, '}', '\n')
		if !l.batched || len(l.pending) == parallel {
			if _, err := l.w.Write(l.out); err != nil {
				return err
			}
			l.out = l.out[:0]
		}
	}
	return nil
}

var idKey = []byte(`"id":`)

// receive reads once, and settles every whole line that was received.
func (l *byteLoop) receive() (settled int, err error) {
	if l.start > 0 {
		l.end = copy(l.in, l.in[l.start:l.end])
		l.start = 0
	}
	n, err := l.r.Read(l.in[l.end:])
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	l.end += n
	for {
		length := bytes.IndexByte(l.in[l.start:l.end], '\n')
		if length < 0 {
			return settled, nil
		}
		line := l.in[l.start : l.start+length]
		l.start += length + 1
		at := bytes.Index(line, idKey)
		var id int64
		for _, c := range line[at+len(idKey):] {
			if c < '0' || c > '9' {
				break
			}
			id = id*10 + int64(c-'0')
		}
		if _, ok := l.pending[id]; !ok {
			return settled, fmt.Errorf("an answer to %d, which is not pending", id)
		}
		delete(l.pending, id)
		settled++
	}
}
