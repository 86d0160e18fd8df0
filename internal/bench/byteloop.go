package main

import (
	"bytes"
	"context"
	"fmt"
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

// appendCall appends the text of a call with this id.
func appendCall(to []byte, id int64) []byte {
	to = strconv.AppendInt(append(to, callHead...), id, 10)
	return append(append(append(to, callMiddle...), callParams...), '}')
}

// byteLoop is the floor. It costs only what a client cannot avoid: to write requests into a pipe, to read lines from
// another pipe, to find the id by a search for bytes, and to keep a table of the pending requests. One goroutine does
// all this. Each request is a write of its own, because each call is a separate event for a client.
type byteLoop struct {
	*child
	pending map[int64]struct{}
	last    int64
	text    []byte
}

func openByteLoop(_ context.Context, o options) (subject, error) {
	server, err := startChild(64<<10, o.bin.echo)
	if err != nil {
		return subject{}, err
	}
	l := &byteLoop{child: server, pending: map[int64]struct{}{}}
	return subject{name: byteLoopName, pump: l.pump, close: server.close}, nil
}

func (l *byteLoop) pump(parallel int, stop *atomic.Bool) (calls int, err error) {
	for {
		for len(l.pending) < parallel && !stop.Load() {
			l.last++
			l.pending[l.last] = struct{}{}
			l.text = append(appendCall(l.text[:0], l.last), '\n')
			if _, err := l.in.Write(l.text); err != nil {
				return calls, err
			}
		}
		if len(l.pending) == 0 {
			return calls, nil
		}
		// Whatever came with one read is settled before more is written.
		for more := true; more; more = l.out.Buffered() > 0 {
			line, err := l.out.ReadSlice('\n')
			if err != nil {
				return calls, err
			}
			id := idOf(line)
			if _, ok := l.pending[id]; !ok {
				return calls, fmt.Errorf("an answer to %d, which is not pending", id)
			}
			delete(l.pending, id)
			calls++
		}
	}
}

var idKey = []byte(`"id":`)

// idOf returns the id of an answer, or 0.
func idOf(line []byte) (id int64) {
	_, digits, _ := bytes.Cut(line, idKey)
	for _, c := range digits {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + int64(c-'0')
	}
	return id
}
