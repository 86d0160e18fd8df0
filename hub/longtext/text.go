package longtext

import (
	"strings"
	"unsafe"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// largeBytes is from how many bytes on a text lies in memory of its own kind: two large pages of most processors.
const largeBytes = 4 << 20

// Text is a text that grows at its end. The zero value is empty and ready to use. It has one user at a time.
type Text struct {
	small   []byte
	large   *strings.Builder // takes the place of small; the one type of the library whose memory nobody clears
	advised bool             // the system knows that large will be
}

// Len is how many bytes it has.
func (t *Text) Len() int {
	if t.large != nil {
		return t.large.Len()
	}
	return len(t.small)
}

// Add appends part. limit is the longest that the text will become: its memory doubles up to that, so that the bytes of
// a long text are copied twice at most, taken together. What memory is missing is taken of hold first; an
// *bounds.Exceeded changes nothing.
func (t *Text) Add(part []byte, limit int, hold *bounds.Hold) error {
	if size := t.Len() + len(part); size > t.room() {
		if err := t.Reserve(max(size, min(2*t.room(), limit)), hold); err != nil {
			return err
		}
	}
	t.write(part)
	return nil
}

// Reserve makes room for size bytes in all, taken of hold first; an *bounds.Exceeded changes nothing.
func (t *Text) Reserve(size int, hold *bounds.Hold) error {
	if size <= t.room() {
		return nil
	}
	if err := hold.Grow(size); err != nil {
		return err
	}
	old := *t
	if *t = (Text{}); size < largeBytes {
		t.small = make([]byte, 0, size)
	} else {
		t.large = &strings.Builder{}
		t.large.Grow(size)
	}
	t.write(old.Take())
	return nil
}

// Bytes is the text so far. It must not be written to, and is valid until the next Add or Reserve.
func (t *Text) Bytes() []byte {
	if t.large != nil {
		s := t.large.String()
		return unsafe.Slice(unsafe.StringData(s), len(s))
	}
	return t.small[:len(t.small):len(t.small)]
}

// Take is Bytes for good: the text is empty afterwards. Nobody may ever write to what it returns.
func (t *Text) Take() []byte {
	b := t.Bytes()
	if t.advised {
		// Pages that b has stay as they are. What takes the place of b one day gets such as are usual.
		advise(t.memory(), false)
	}
	*t = Text{}
	return b
}

func (t *Text) room() int {
	if t.large != nil {
		return t.large.Cap()
	}
	return cap(t.small)
}

func (t *Text) write(part []byte) {
	if t.large == nil {
		t.small = append(t.small, part...)
		return
	}
	if !t.advised && len(part) > 0 {
		t.large.WriteByte(part[0]) // before that, the memory has no address that could be asked for
		part = part[1:]
		advise(t.memory(), true)
		t.advised = true
	}
	t.large.Write(part)
}

// memory is all that a large text has, which has one byte at least.
func (t *Text) memory() []byte {
	return unsafe.Slice(unsafe.StringData(t.large.String()), t.large.Cap())
}
