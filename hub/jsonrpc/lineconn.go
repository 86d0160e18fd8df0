package jsonrpc

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

const (
	defaultMaxLine = 64 << 20
	// lineBuffer is the size to which both buffers go back after a longer message. An idle connection keeps two of them.
	lineBuffer = 32 << 10
)

// LineConnOptions of a LineConn. The zero value is usable.
type LineConnOptions struct {
	// MaxLine is the longest line in bytes; a longer one is skipped to its end. Default 64 MiB.
	MaxLine int
	// Close ends both directions and unblocks pending reads and writes. It is called once. nil: the reader and the writer
	// are closed if they are io.Closers.
	Close func() error
}

// LineConn is a Conn of one JSON text a line: the stdio framing of MCP. It reads blank lines, CRLF, blanks at the end,
// a byte order mark at the start and a last line without its end as what was meant.
//
// On Unix a writer that can be polled (a pipe, a socket) is written without blocking, so that TryWrite works and
// WriteProgress is exact. Any other writer gets pieces of 16 KiB.
type LineConn struct {
	r       io.Reader
	maxLine int

	// Of the reading goroutine.
	buf        []byte
	start, end int   // what was read and not yet returned
	readErr    error // comes after what was read before it
	given      bool  // the bytes of the last message are its reader's
	results    *bounds.Account
	hold       *bounds.Hold // what buf holds of results
	handed     *bounds.Hold // with the bytes of the last message

	// Of whoever writes; see Conn.
	w    io.Writer
	poll *pollWriter // nil when w can not be polled
	wbuf []byte
	rest []byte // what TryWrite could not write

	progress atomic.Uint64
	close    func() error
}

// NewLineConn makes a LineConn that reads r and writes w.
func NewLineConn(r io.Reader, w io.Writer, o LineConnOptions) *LineConn {
	if o.MaxLine <= 0 {
		o.MaxLine = defaultMaxLine
	}
	if o.Close == nil {
		o.Close = func() error {
			var err error
			for _, end := range []any{w, r} {
				if c, ok := end.(io.Closer); ok {
					if e := c.Close(); err == nil {
						err = e
					}
				}
			}
			return err
		}
	}
	c := &LineConn{r: r, w: w, maxLine: o.MaxLine, close: sync.OnceValue(o.Close)}
	c.poll = newPollWriter(w, &c.progress)
	return c
}

// Close ends both directions; see LineConnOptions.Close. Later calls return what the first returned.
func (c *LineConn) Close() error { return c.close() }

// ReadMessage returns the next line that is not blank.
func (c *LineConn) ReadMessage() ([]byte, error) {
	for {
		line, err := c.readLine()
		if err != nil {
			return nil, err
		}
		line = bytes.TrimRight(line, " \t\r")
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		if line = bytes.TrimLeft(line, " \t\r"); len(line) > 0 {
			return line, nil
		}
	}
}

// Drained tells whether every byte that was read has been returned.
func (c *LineConn) Drained() bool { return c.start == c.end && c.readErr == nil }

// Reading tells whether the bytes of the last message are the caller's to keep.
func (c *LineConn) Reading() (jsontext.Message, jsontext.Kind, bool) {
	return jsontext.Message{}, jsontext.Invalid, c.given
}

// Count implements Counted. A buffer counts with all of its bytes, as long as it is larger than one that waits for a
// message.
func (c *LineConn) Count(on *bounds.Account) { c.results, c.hold = on, on.Hold() }

// Hold implements Counted.
func (c *LineConn) Hold() *bounds.Hold {
	h := c.handed
	c.handed = nil
	return h
}

func (c *LineConn) readLine() ([]byte, error) {
	c.given = false
	if len(c.buf) != lineBuffer && c.end-c.start <= lineBuffer/2 {
		c.shrink()
	}
	searched := c.start
	for {
		if i := bytes.IndexByte(c.buf[searched:c.end], '\n'); i >= 0 {
			line := c.buf[c.start : searched+i]
			c.start = searched + i + 1
			if len(line) > c.maxLine {
				return nil, c.tooLong(line, nil)
			}
			// A long message that fills its buffer goes with it: to copy it would cost as much as to read it.
			if c.given = len(line) >= largeResult && len(line) >= len(c.buf)/2 && c.end-c.start <= lineBuffer/2; c.given {
				c.handed, c.hold = c.hold, c.results.Hold()
				c.resize(lineBuffer)
			}
			return line, nil
		}
		if c.end-c.start > c.maxLine {
			return nil, c.skipLine(nil)
		}
		if c.readErr != nil {
			line := c.buf[c.start:c.end]
			c.start = c.end
			if len(line) == 0 {
				c.shrink()
				return nil, c.readErr
			}
			return line, nil
		}
		if c.end-c.start == len(c.buf) {
			if err := c.hold.Grow(c.larger() - lineBuffer); err != nil {
				return nil, c.skipLine(err)
			}
		}
		searched = c.end - c.start // relative to start, which fill moves to 0
		c.fill()
	}
}

// fill reads once, into a buffer whose unread part it has moved to the front and which it has grown if need be.
func (c *LineConn) fill() {
	if c.start > 0 {
		c.end = copy(c.buf, c.buf[c.start:c.end])
		c.start = 0
	}
	if c.end == len(c.buf) {
		c.resize(c.larger())
	}
	for range 100 { // a reader may return nothing now and then, but not for ever
		n, err := c.r.Read(c.buf[c.end:])
		c.end += n
		if err != nil {
			c.readErr = err
			return
		}
		if n > 0 {
			return
		}
	}
	c.readErr = io.ErrNoProgress
}

// larger is the size to which the buffer grows.
func (c *LineConn) larger() int { return max(lineBuffer, min(2*len(c.buf), c.maxLine+lineBuffer)) }

// shrink goes back to the buffer of a connection that waits for a message.
func (c *LineConn) shrink() {
	c.resize(lineBuffer)
	c.hold.Release()
}

func (c *LineConn) resize(size int) {
	buf := make([]byte, size)
	c.end = copy(buf, c.buf[c.start:c.end])
	c.start = 0
	c.buf = buf
}

// skipLine drops a line that is too long already, or finds no room, up to its end.
func (c *LineConn) skipLine(noRoom error) error {
	e := c.tooLong(c.buf[c.start:c.end], noRoom)
	c.start, c.end = 0, 0
	c.shrink()
	for c.readErr == nil {
		c.fill()
		part := c.buf[:c.end]
		newline := bytes.IndexByte(part, '\n')
		if newline >= 0 {
			part = part[:newline]
			c.start = newline + 1
		} else {
			c.end = 0
		}
		e.Add(part)
		if newline >= 0 {
			break
		}
	}
	return e
}

func (c *LineConn) tooLong(line []byte, noRoom error) *jsontext.TooLongError {
	e := &jsontext.TooLongError{Limit: c.maxLine, Err: noRoom}
	e.Add(line)
	return e
}
