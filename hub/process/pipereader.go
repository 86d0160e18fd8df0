package process

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// maxAfterEnd bounds how many bytes are still read once the group is gone. It is the capacity of the largest pipe that
// an ordinary user can have on Linux, so nothing that the group wrote is lost, and a process that left the group cannot
// keep the reader for ever by writing on.
const maxAfterEnd = 1 << 20

// pipeReader is the hub's end of the child's stdout or stderr. It has one reader.
// It ends when every writer has closed, or after end was called.
type pipeReader struct {
	f      *os.File
	raw    syscall.RawConn
	closed bool // used by the reader alone
	extra  int  // bytes read since end; used by the reader alone
	ended  atomic.Bool
}

func newPipeReader(f *os.File) *pipeReader {
	raw, err := f.SyscallConn()
	if err != nil {
		raw = nil // the file is already closed; Read says so
	}
	return &pipeReader{f: f, raw: raw}
}

// end makes the reader take what is in the pipe and then report io.EOF, although
// a process outside the group may still hold the other end.
func (r *pipeReader) end() {
	r.ended.Store(true)
	// Wakes a blocked Read. Windows pipes have no deadline; there the job
	// object has closed the other ends.
	_ = r.f.SetReadDeadline(time.Unix(1, 0))
}

func (r *pipeReader) Read(b []byte) (int, error) {
	if r.closed {
		return 0, io.EOF
	}
	if len(b) == 0 {
		return 0, nil
	}
	n, err := r.f.Read(b)
	if r.ended.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		if n, err = 0, io.EOF; r.extra < maxAfterEnd {
			if n = readNow(r.raw, b[:min(len(b), maxAfterEnd-r.extra)]); n > 0 {
				r.extra += n
				return n, nil
			}
		}
	}
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	if err != nil {
		r.closed = true
		_ = r.f.Close()
	}
	return n, err
}
