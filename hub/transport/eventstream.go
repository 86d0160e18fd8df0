package transport

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
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

// take processes the next part of the current line.
func (r *eventReader) take(part []byte) {
	if !r.colon {
		label, value, found := bytes.Cut(part, []byte{':'})
		r.label = append(r.label, label[:min(len(label), maxLabel-len(r.label))]...)
		if !found {
			return
		}
		r.begin()
		part = value
	}
	if r.blank && len(part) > 0 {
		r.blank = false
		part = bytes.TrimPrefix(part, []byte{' '})
	}
	switch r.field {
	case fieldNone:
	case fieldData:
		r.add(part)
	default:
		if r.tooLong = r.tooLong || len(r.value)+len(part) > maxEventField; !r.tooLong {
			r.value = append(r.value, part...)
		}
	}
}

// begin starts the value of a field: after the colon, or at the end of a line that has none.
func (r *eventReader) begin() {
	r.colon, r.blank = true, true
	switch string(r.name()) {
	case "data":
		r.field = fieldData
		if r.hasData {
			r.add([]byte{'\n'})
		}
		r.hasData = true
	case "id":
		r.field = fieldID
	case "event":
		r.field = fieldName
	case "retry":
		r.field = fieldRetry
	}
}

// name returns the name of the field. A name that was cut to maxLabel bytes is not that of a known field.
func (r *eventReader) name() []byte {
	if r.first {
		return bytes.TrimPrefix(r.label, []byte("\ufeff"))
	}
	return r.label
}

// endLine ends the current line, and reports whether it was blank. A blank line ends the event.
func (r *eventReader) endLine() (blank bool) {
	if !r.colon {
		if blank = len(r.name()) == 0; !blank {
			r.begin()
		}
	}
	switch value := r.value; r.field {
	case fieldID:
		if !r.tooLong && bytes.IndexByte(value, 0) < 0 {
			r.ev.id, r.ev.hasID = string(value), true
		}
	case fieldName:
		if !r.tooLong {
			r.ev.name = string(value)
		}
	case fieldRetry:
		if wait, ok := milliseconds(value); ok && !r.tooLong {
			r.ev.retry, r.ev.hasRetry = wait, true
		}
	}
	r.label, r.value = r.label[:0], r.value[:0]
	r.colon, r.blank, r.tooLong, r.first, r.field = false, false, false, false, fieldNone
	return blank
}

// milliseconds parses a number that consists of digits only. A number that no Duration can hold becomes the longest
// Duration.
func milliseconds(digits []byte) (time.Duration, bool) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	if len(digits) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || n > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64, true
	}
	return time.Duration(n) * time.Millisecond, true
}

// add appends part to the data of the current event.
func (r *eventReader) add(part []byte) {
	if e := r.long; e != nil {
		e.Add(part)
		return
	}
	size := r.data.Len() + len(part)
	var noRoom error
	if size <= r.maxData {
		if r.ev.hold == nil && r.data.Len() > 0 {
			r.ev.hold = r.results.Hold()
		}
		if noRoom = r.data.Add(part, r.maxData, r.ev.hold); noRoom == nil {
			return
		}
	}
	r.long = &jsontext.TooLongError{Limit: r.maxData, Err: noRoom}
	r.long.Add(r.data.Take())
	r.long.Add(part)
	r.ev.hold.Release()
}

// dispatch ends the current event. ok reports whether the event has data, an id or a retry.
func (r *eventReader) dispatch() (ev event, ok bool, err error) {
	ev = r.ev
	ev.data = r.data.Take()
	switch {
	case r.long != nil:
		err = r.long
	case r.hasData && ev.data == nil:
		ev.data = []byte{} // data, but empty
	}
	ok = r.hasData || ev.hasID || ev.hasRetry
	r.ev, r.hasData, r.long = event{}, false, nil
	return ev, ok, err
}
