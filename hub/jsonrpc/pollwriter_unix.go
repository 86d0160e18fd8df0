//go:build unix

package jsonrpc

import (
	"io"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// pollWriter writes to a non-blocking file descriptor through the runtime's poller, and counts each byte at once. It
// must not be used concurrently.
type pollWriter struct {
	raw     syscall.RawConn
	written *atomic.Uint64
	step    func(fd uintptr) (done bool) // created once, so that a write allocates nothing

	// The state of step.
	buf  []byte // what is left
	err  error
	once bool
}

// newPollWriter returns nil if w has no descriptor, or one that could block.
func newPollWriter(w io.Writer, written *atomic.Uint64) *pollWriter {
	sc, ok := w.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	nonblocking := false
	err = raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		nonblocking = err == nil && flags&unix.O_NONBLOCK != 0
	})
	if err != nil || !nonblocking {
		return nil
	}
	p := &pollWriter{raw: raw, written: written}
	p.step = func(fd uintptr) bool {
		for len(p.buf) > 0 {
			n, err := syscall.Write(int(fd), p.buf)
			switch {
			case err == syscall.EINTR:
				continue
			case err == syscall.EAGAIN:
				return p.once
			case err == nil && n == 0:
				err = io.ErrShortWrite
			case err == nil:
				p.written.Add(uint64(n))
				p.buf = p.buf[n:]
			}
			if p.err = err; err != nil || p.once {
				return true
			}
		}
		return true
	}
	return p
}

// write writes everything, waiting for the poller in between, or with once, what is accepted at once. It returns how
// many bytes were accepted, and does not retain b.
func (p *pollWriter) write(b []byte, once bool) (n int, err error) {
	p.buf, p.err, p.once = b, nil, once
	err = p.raw.Write(p.step)
	if err == nil {
		err = p.err
	}
	n = len(b) - len(p.buf)
	p.buf = nil
	return n, err
}
