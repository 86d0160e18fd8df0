package jsonrpc

// writePiece is how many bytes go into one Write of a writer that can not be polled. It bounds how much such a write
// may accept without reporting progress.
const writePiece = 16 << 10

// WriteMessages writes each message on a line, joined into pieces of about 64 KiB: the size of a pipe.
func (c *LineConn) WriteMessages(batch [][]byte) error {
	if len(c.rest) > 0 {
		if err := c.write(c.rest); err != nil {
			return err
		}
		c.rest = nil
	}
	buf := c.wbuf[:0]
	for _, msg := range batch {
		switch {
		case len(msg) > lineBuffer:
			// Too long to be worth a copy. Its newline is written with what follows.
			if err := c.write(buf); err != nil {
				return err
			}
			if err := c.write(msg); err != nil {
				return err
			}
			buf = append(buf[:0], '\n')
			continue
		case len(buf) > 0 && len(buf)+len(msg) >= 2*lineBuffer:
			if err := c.write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		buf = append(append(buf, msg...), '\n')
	}
	err := c.write(buf)
	c.keep(buf)
	return err
}

// TryWrite writes as much as fits into the pipe; see TryWriter. It accepts nothing if the writer can not be polled.
func (c *LineConn) TryWrite(msg []byte) (taken int, done bool, err error) {
	if c.poll == nil || len(c.rest) > 0 || len(msg) > lineBuffer {
		return 0, false, nil
	}
	buf := append(append(c.wbuf[:0], msg...), '\n')
	taken, err = c.poll.try(buf)
	if err == nil && 0 < taken && taken < len(buf) {
		c.rest = append([]byte(nil), buf[taken:]...)
	}
	c.keep(buf)
	return taken, taken == len(buf), err
}

// WriteProgress returns how many bytes the other side has accepted.
func (c *LineConn) WriteProgress() uint64 { return c.progress.Load() }

func (c *LineConn) keep(buf []byte) {
	if cap(buf) > 2*lineBuffer {
		buf = nil
	}
	c.wbuf = buf
}

func (c *LineConn) write(b []byte) error {
	if c.poll != nil && len(b) > 0 {
		return c.poll.write(b)
	}
	for len(b) > 0 {
		n, err := c.w.Write(b[:min(len(b), writePiece)])
		c.progress.Add(uint64(max(n, 0)))
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
