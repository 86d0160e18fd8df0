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
	raw      syscall.RawConn
	progress *atomic.Uint64

	// The state of the two callbacks below. They are created once, so that a write allocates nothing.
	buf     []byte
	err     error
	onTry   func(fd uintptr) bool
	onReady func(fd uintptr) bool
}

// newPollWriter returns nil if w has no descriptor, or one that could block.
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

// step is one write(2). It reports whether the descriptor accepts nothing now.
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

// try writes once and returns how many bytes were accepted.
func (p *pollWriter) try(b []byte) (int, error) {
	left, err := p.run(b, p.onTry)
	return len(b) - left, err
}

// write writes everything, waiting for the poller in between.
func (p *pollWriter) write(b []byte) error {
	_, err := p.run(b, p.onReady)
	return err
}

// run returns how many bytes of b were not accepted, and does not retain b.
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
