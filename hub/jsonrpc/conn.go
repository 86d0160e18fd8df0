package jsonrpc

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Conn is one connection. It is also either a Stream or a Sender. One goroutine reads it. Close may be called by any
// goroutine.
type Conn interface {
	// ReadMessage returns the next message. A message that is large is charged to results, which may be nil, from the time
	// its first part was read; see Message.Hold. A *jsontext.TooLongError stands for one message that was skipped, a
	// *CallFailedError for a response that will not come; reading goes on after both. Any other error is the end of the
	// connection.
	ReadMessage(results *bounds.Account) (Message, error)
	// Close ends both directions and unblocks ReadMessage and Write. It is bounded in time, idempotent, and safe for
	// concurrent use.
	Close() error
}

// Stream is a Conn of one ordered stream of bytes, with a message on each line. At most one goroutine at a time writes
// it, and only whole lines, the rest of a line that was written in part first.
type Stream interface {
	Conn
	// Write writes everything. It may block as long as the other side does not read.
	Write(lines []byte) (n int, err error)
	// TryWrite writes as much as the other side accepts now, which may be nothing, and never blocks.
	TryWrite(lines []byte) (n int, err error)
	// Written returns how many bytes the other side has accepted so far, also during a Write. It is safe for concurrent
	// use.
	Written() uint64
}

// Message is one message that was read, with what the connection knows about it.
type Message struct {
	// Text is the complete message, valid until the next ReadMessage unless Owned is set.
	Text []byte
	// The parsed message and its kind are set if the connection had to parse it itself. Else Kind is jsontext.Invalid.
	jsontext.Message
	Kind jsontext.Kind
	// Source is the id of our request in whose answer the message came, as over HTTP. It is zero if the message came with
	// no answer, or if that is not known.
	Source ID
	// Owned reports that the connection does not use the bytes of Text again.
	Owned bool
	// Hold is what is charged for Text. It passes to the caller; nil if nothing is charged, or if Owned is not set.
	Hold *bounds.Hold
	// Drained reports that every byte that was read has been returned. A Peer pauses its reading during a storm then.
	Drained bool
}

// Sender is a Conn that carries each message separately, as over HTTP. A Peer passes every message to it: there is no
// queue and no stall, and a message that was passed counts as written.
type Sender interface {
	Conn
	// Send takes ownership of one message and never blocks. It is called in the order of the messages. ReadMessage reports
	// what becomes of the message. Send is called with a lock of the Peer held, so it must not call the Peer. An error
	// means that the Sender took neither this message nor will take any other.
	Send(m OutgoingMessage) error
}

// OutgoingMessage is one message for a Sender.
type OutgoingMessage struct {
	Message []byte // complete; it belongs to the Sender
	ID      ID     // the id of a request; zero for a notification or a response
	Method  string // "" for a response
	Extra   any    // How.Extra, untouched
}

// CallFailedError is what ReadMessage returns in place of the response to one of our requests that gets none. Reading
// goes on. The call fails with Err, after everything that came before; an id that is not pending is ignored.
type CallFailedError struct {
	ID  ID
	Err error
}

func (e *CallFailedError) Error() string {
	return "jsonrpc: no answer to request " + bounds.Printable(e.ID.raw) + ": " + e.Err.Error()
}

func (e *CallFailedError) Unwrap() error { return e.Err }

const (
	defaultMaxLine = 64 << 20
	lineBuffer     = 32 << 10 // the size of the read buffer
	// writePiece is how many bytes go into one Write of a writer that can not be polled. It bounds how much such a write
	// may accept without being counted.
	writePiece = 16 << 10
)

// LineConnOptions of a LineConn. The zero value is usable.
type LineConnOptions struct {
	// MaxLine is the longest line in bytes; a longer one is skipped to its end. Default 64 MiB.
	MaxLine int
	// Close ends both directions and unblocks pending reads and writes. It is called once. nil: the reader and the writer
	// are closed if they are io.Closers.
	Close func() error
}

// LineConn is a Conn with one JSON text on each line: the stdio framing of MCP. It tolerates blank lines, CRLF, blanks
// at the end, a byte order mark at the start and a last line without its newline.
//
// On Unix a writer that can be polled (a pipe, a socket) is written without blocking, so that TryWrite works and
// Written is exact. Any other writer gets pieces of 16 KiB.
type LineConn struct {
	r       io.Reader
	maxLine int

	// Used by the reading goroutine only.
	buf        []byte
	start, end int          // the bytes of buf that were read and are neither returned nor in long
	long       bounds.Text  // the part of the current line that was moved out of buf because buf was full
	readErr    error        // returned after everything that was read before it
	hold       *bounds.Hold // what is charged for long

	// Used by the goroutine that writes; see Stream.
	w    io.Writer
	poll *pollWriter // nil if w can not be polled

	written atomic.Uint64
	close   func() error
}

// NewLineConn returns a LineConn that reads r and writes w.
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
	c.poll = newPollWriter(w, &c.written)
	return c
}

// Close ends both directions; see LineConnOptions.Close. Later calls return the result of the first.
func (c *LineConn) Close() error { return c.close() }

// Write writes everything; see Stream.
func (c *LineConn) Write(lines []byte) (n int, err error) {
	if c.poll != nil {
		return c.poll.write(lines, false)
	}
	for n < len(lines) && err == nil {
		var m int
		m, err = c.w.Write(lines[n:min(n+writePiece, len(lines))])
		m = max(m, 0)
		c.written.Add(uint64(m))
		n += m
	}
	return n, err
}

// TryWrite writes as much as fits into the pipe; see Stream. It writes nothing if the writer can not be polled.
func (c *LineConn) TryWrite(lines []byte) (n int, err error) {
	if c.poll == nil {
		return 0, nil
	}
	return c.poll.write(lines, true)
}

// Written returns how many bytes the other side has accepted.
func (c *LineConn) Written() uint64 { return c.written.Load() }

// ReadMessage returns the next line that is not blank. Only a line longer than the buffer is charged to results, and
// the caller owns the bytes of such a line.
func (c *LineConn) ReadMessage(results *bounds.Account) (Message, error) {
	if c.hold == nil {
		c.hold = results.Hold()
	}
	for {
		line, owned, err := c.readLine()
		if err != nil {
			return Message{}, err
		}
		line = bytes.TrimRight(line, " \t\r")
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		line = bytes.TrimLeft(line, " \t\r")
		switch {
		case len(line) > 0 && owned:
			m := Message{Text: line, Owned: true, Hold: c.hold, Drained: c.drained()}
			c.hold = nil
			return m, nil
		case len(line) > 0:
			return Message{Text: line, Drained: c.drained()}, nil
		}
		c.hold.Release() // of a long line of blanks
	}
}

func (c *LineConn) drained() bool { return c.start == c.end && c.readErr == nil }

// readLine returns the next line. owned reports whether the caller owns its bytes.
func (c *LineConn) readLine() (line []byte, owned bool, err error) {
	searched := c.start
	for {
		part, newline := c.buf[c.start:c.end], 0
		if i := bytes.IndexByte(c.buf[searched:c.end], '\n'); i >= 0 {
			part, newline = c.buf[c.start:searched+i], 1
		}
		switch size := c.long.Len() + len(part); {
		case size > c.maxLine:
			return nil, false, c.skipLine(nil)
		case newline > 0 || c.readErr != nil && size > 0:
			return c.line(part, newline)
		case c.readErr != nil:
			return nil, false, c.readErr
		case len(part) == lineBuffer:
			if err := c.long.Add(part, c.maxLine, c.hold); err != nil {
				return nil, false, c.skipLine(err)
			}
			c.start = c.end
		}
		searched = c.end - c.start // relative to start, which fill moves to 0
		c.fill()
	}
}

// line returns the line that ends with part, after which comes a newline or the end of the stream.
func (c *LineConn) line(part []byte, newline int) (line []byte, owned bool, err error) {
	if c.long.Len() == 0 {
		c.start += len(part) + newline
		return part, false, nil
	}
	if err := c.long.Add(part, c.maxLine, c.hold); err != nil {
		return nil, false, c.skipLine(err)
	}
	c.start += len(part) + newline
	return c.long.Take(), true, nil // a copy would cost as much as reading it did
}

// fill moves the unread part of the buffer to the front, and reads once. There is room behind that part.
func (c *LineConn) fill() {
	if c.buf == nil {
		c.buf = make([]byte, lineBuffer)
	}
	c.end = copy(c.buf, c.buf[c.start:c.end])
	c.start = 0
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

// skipLine skips a line that is too long or has no room on the account, up to its end.
func (c *LineConn) skipLine(noRoom error) error {
	e := &jsontext.TooLongError{Limit: c.maxLine, Err: noRoom}
	e.Add(c.long.Take())
	c.hold.Release()
	for {
		part := c.buf[c.start:c.end]
		newline := bytes.IndexByte(part, '\n')
		if newline >= 0 {
			part = part[:newline]
			c.start++ // skip the newline, too
		}
		e.Add(part)
		c.start += len(part)
		if newline >= 0 || c.readErr != nil {
			return e
		}
		c.fill()
	}
}
