package transport

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

const (
	// idleEventBuffer is the size of the read buffer of an open stream. It is small, since most streams are silent most of
	// the time.
	idleEventBuffer = 4 << 10
	// busyEventBuffer is the size of the read buffer in the middle of a long message.
	busyEventBuffer = 64 << 10
	// maxEventField bounds the id, the name and the retry of an event, in bytes. A longer value is ignored: an id has to
	// fit into a header.
	maxEventField = 4 << 10
)

// event is one event of a stream (WHATWG HTML, "Server-sent events").
type event struct {
	id    string
	hasID bool   // the event has an id; an empty id cancels the earlier ones
	name  string // "" means message
	// data belongs to the receiver of the event. It is nil if the event has none: then the event has only an id or a
	// retry, with which a server primes a stream (2025-11-25 basic/transports "Sending Messages to the Server").
	data     []byte
	retry    time.Duration
	hasRetry bool
	// hold accounts for data, and belongs to the owner of data.
	hold *bounds.Hold
}

// eventField is the field of the current line.
type eventField int

const (
	fieldNone eventField = iota // a comment, or an unknown field
	fieldData
	fieldID
	fieldName
	fieldRetry
)

// eventReader reads an event stream. It does not buffer whole lines, so a long line costs no more memory than the data
// in it. It must not be used concurrently.
type eventReader struct {
	r       io.Reader
	maxData int
	results *bounds.Account

	buf        []byte
	start, end int // the bytes of buf that were read and not yet processed
	// positions of the next line feed and carriage return from start on, or end; each is searched for only once, so that a
	// stream that has none of one kind costs no more
	lf, cr int
	err    error // returned after everything that was read before it

	// The current line.
	label   []byte // the text before the colon, at most maxLabel bytes
	colon   bool   // the colon was read
	blank   bool   // a blank directly after the colon is to be skipped
	field   eventField
	value   []byte // the value of an id, a name or a retry
	tooLong bool   // value was too long
	first   bool   // the line is the first of the stream, and may begin with a byte order mark
	afterCR bool   // a line feed that follows belongs to the previous line

	// The current event.
	ev      event
	data    bounds.Text // becomes ev.data
	hasData bool
	long    *jsontext.TooLongError // set if the data is too long; replaces the data
}

// maxLabel is one more than the length of the longest known field name with a byte order mark before it.
const maxLabel = len("\ufeffevent") + 1

// newEventReader returns a reader of the events in r. maxData bounds the data of one event, in bytes. Long data is
// charged to results from the time its first part was read.
func newEventReader(r io.Reader, maxData int, results *bounds.Account) *eventReader {
	return &eventReader{r: r, maxData: maxData, results: results, first: true, label: make([]byte, 0, maxLabel)}
}

// release ends the accounting of the current event, which will not be read to its end.
func (r *eventReader) release() { r.ev.hold.Release() }

// next returns the next event that has data, an id or a retry. If the stream ends within an event, that event is
// dropped; the error is io.ErrUnexpectedEOF if some of its data was read, else io.EOF. With a *jsontext.TooLongError,
// the event is valid but for its data, and the stream goes on. Any other error is the end of the stream, and later
// calls return it again.
func (r *eventReader) next() (event, error) {
	for {
		for r.start < r.end {
			if r.afterCR {
				r.afterCR = false
				if r.buf[r.start] == '\n' {
					r.start++
					continue
				}
			}
			at := r.lineEnd()
			r.take(r.buf[r.start:at])
			if at == r.end {
				r.start = at
				break
			}
			r.start, r.afterCR = at+1, r.buf[at] == '\r'
			if !r.endLine() {
				continue
			}
			if ev, ok, err := r.dispatch(); ok {
				return ev, err
			}
		}
		if r.err == io.EOF && r.hasData {
			return event{}, io.ErrUnexpectedEOF
		}
		if r.err != nil {
			return event{}, r.err
		}
		r.fill()
	}
}

// message returns the next event that carries a message, and records in at how far the stream was read. It skips events
// that have another name than "message". The errors are those of next.
func (r *eventReader) message(at *place) (event, error) {
	for {
		ev, err := r.next()
		if err != nil && !errors.As(err, new(*jsontext.TooLongError)) {
			return event{}, err
		}
		at.pass(ev)
		if (err != nil || len(ev.data) > 0) && (ev.name == "" || ev.name == "message") {
			return ev, err
		}
		ev.hold.Release()
	}
}

// lineEnd returns the position in the buffer at which the current line ends, or r.end if the end of the line was not
// read.
func (r *eventReader) lineEnd() int {
	if r.lf < r.start {
		r.lf = r.find('\n')
	}
	if r.cr < r.start {
		r.cr = r.find('\r')
	}
	return min(r.lf, r.cr)
}

func (r *eventReader) find(c byte) int {
	if i := bytes.IndexByte(r.buf[r.start:r.end], c); i >= 0 {
		return r.start + i
	}
	return r.end
}

// fill reads into the buffer once. Everything that was read before must have been processed.
func (r *eventReader) fill() {
	size := idleEventBuffer
	if r.data.Len() >= idleEventBuffer || r.long != nil {
		size = busyEventBuffer
	}
	if len(r.buf) != size {
		r.buf = make([]byte, size)
	}
	r.start, r.end, r.lf, r.cr = 0, 0, -1, -1
	for range 100 { // a reader may return nothing now and then, but not for ever
		n, err := r.r.Read(r.buf)
		r.end = n
		if err != nil {
			r.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}
