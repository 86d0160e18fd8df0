//go:build unix

package jsonrpc

import (
	"io"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// pollWriter writes a file descriptor that does not block, through the runtime's poller, and counts each byte at once.
// It is used by one goroutine at a time.
type pollWriter struct {
	raw      syscall.RawConn
	progress *atomic.Uint64

	// What the two callbacks below work on; they are made once, so that a write allocates nothing.
	buf     []byte
	err     error
	onTry   func(fd uintptr) bool
	onReady func(fd uintptr) bool
}

// newPollWriter returns nil when w has no descriptor, or one that could block.
func newPollWriter(w io.Writer, progress *atomic.Uint64) *pollWriter {
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
	p := &pollWriter{raw: raw, progress: progress}
	p.onTry = func(fd uintptr) bool {
		p.step(fd)
		return true
	}
	p.onReady = func(fd uintptr) bool {
		for {
			if wait := p.step(fd); wait {
				return false
			}
			if p.err != nil || len(p.buf) == 0 {
				return true
			}
		}
	}
	return p
}

// step is one write(2). It reports whether the descriptor takes nothing now.
func (p *pollWriter) step(fd uintptr) (wait bool) {
	for {
		n, err := syscall.Write(int(fd), p.buf)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return true
		case err != nil:
			p.err = err
		case n == 0:
			p.err = io.ErrShortWrite
		default:
			p.progress.Add(uint64(n))
			p.buf = p.buf[n:]
		}
		return false
	}
}

// try writes once and returns how much was taken.
func (p *pollWriter) try(b []byte) (int, error) {
	left, err := p.run(b, p.onTry)
	return len(b) - left, err
}

// write writes everything, waiting for the poller in between.
func (p *pollWriter) write(b []byte) error {
	_, err := p.run(b, p.onReady)
	return err
}

// run returns how many bytes of b were not taken, and holds on to none of them.
func (p *pollWriter) run(b []byte, f func(uintptr) bool) (left int, err error) {
	p.buf, p.err = b, nil
	err = p.raw.Write(f)
	if err == nil {
		err = p.err
	}
	left = len(p.buf)
	p.buf = nil
	return left, err
}
