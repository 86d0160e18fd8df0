package bounds

// Text is a text that is received in pieces and may grow to 64 MiB: a line of a server's output, the data of an event,
// the body of an answer. The zero value is empty and ready to use. It must not be used concurrently.
type Text struct{ b []byte }

// Len returns the length of the text in bytes.
func (t *Text) Len() int { return len(t.b) }

// Add appends part. limit is the longest that the text will become: its memory doubles up to that, so that the bytes of
// a long text are copied at most twice, taken together. Memory that is missing is charged to hold first; after a
// *Exceeded the text is unchanged.
func (t *Text) Add(part []byte, limit int, hold *Hold) error {
	if size := len(t.b) + len(part); size > cap(t.b) {
		if err := t.Reserve(max(size, min(2*cap(t.b), limit)), hold); err != nil {
			return err
		}
	}
	t.b = append(t.b, part...)
	return nil
}

// Reserve makes room for size bytes in all. It charges them to hold first; after a *Exceeded the text is
// unchanged.
func (t *Text) Reserve(size int, hold *Hold) error {
	if size <= cap(t.b) {
		return nil
	}
	if err := hold.Grow(size); err != nil {
		return err
	}
	t.b = append(make([]byte, 0, size), t.b...)
	return nil
}

// Bytes returns the text so far. It must not be written to, and is valid until the next Add or Reserve.
func (t *Text) Bytes() []byte { return t.b[:len(t.b):len(t.b)] }

// Take returns the text and makes t empty. The returned bytes must never be written to.
func (t *Text) Take() []byte {
	b := t.Bytes()
	t.b = nil
	return b
}
