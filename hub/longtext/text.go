package longtext

import (
	"strings"
	"unsafe"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// largeBytes is the size from which on a text is held in memory that is not zeroed: two large pages of most processors.
const largeBytes = 4 << 20

// Text is a text that grows at its end. The zero value is empty and ready to use. It must not be used concurrently.
type Text struct {
	small   []byte
	large   *strings.Builder // replaces small; only strings.Builder gets memory that is not zeroed
	advised bool             // large pages were requested for large
}

// Len returns the length of the text in bytes.
func (t *Text) Len() int {
	if t.large != nil {
		return t.large.Len()
	}
	return len(t.small)
}

// Add appends part. limit is the longest that the text will become: its memory doubles up to that, so that the bytes of
// a long text are copied at most twice, taken together. Memory that is missing is charged to hold first; after a
// *bounds.Exceeded the text is unchanged.
func (t *Text) Add(part []byte, limit int, hold *bounds.Hold) error {
	if size := t.Len() + len(part); size > t.room() {
		if err := t.Reserve(max(size, min(2*t.room(), limit)), hold); err != nil {
			return err
		}
	}
	t.write(part)
	return nil
}

// Reserve makes room for size bytes in all. It charges them to hold first; after a *bounds.Exceeded the text is
// unchanged.
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

// Bytes returns the text so far. It must not be written to, and is valid until the next Add or Reserve.
func (t *Text) Bytes() []byte {
	if t.large != nil {
		s := t.large.String()
		return unsafe.Slice(unsafe.StringData(s), len(s))
	}
	return t.small[:len(t.small):len(t.small)]
}

// Take returns the text and makes t empty. The returned bytes must never be written to.
func (t *Text) Take() []byte {
	b := t.Bytes()
	if t.advised {
		// The pages of b stay as they are. Memory that is later allocated at the place of b gets ordinary pages.
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
		t.large.WriteByte(part[0]) // before that, the memory has no address to ask for
		part = part[1:]
		advise(t.memory(), true)
		t.advised = true
	}
	t.large.Write(part)
}

// memory returns the whole memory of a large text that has at least one byte.
func (t *Text) memory() []byte {
	return unsafe.Slice(unsafe.StringData(t.large.String()), t.large.Cap())
}
