package transport

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/longtext"
)

const (
	// idleEventBuffer is what an open stream keeps; most streams are silent most of the time.
	idleEventBuffer = 4 << 10
	// busyEventBuffer is read at once in the middle of a long message.
	busyEventBuffer = 64 << 10
	// maxEventField bounds an id, an event's name and a retry. A longer one counts as not sent: an id has to fit into a
	// header.
	maxEventField = 4 << 10
)

// event is one event of a stream (WHATWG HTML, "Server-sent events").
type event struct {
	id    string
	hasID bool   // the event names an id; an empty one takes back the ids before it
	name  string // "" means message
	// data belongs to whoever got the event. nil when the event has none: an id or a retry alone, with which a server
	// primes a stream (2025-11-25 basic/transports "Sending Messages to the Server").
	data     []byte
	retry    time.Duration
	hasRetry bool
	// hold is what data holds, and whose data is.
	hold *bounds.Hold
}

// eventField is what the line at hand says.
type eventField int

const (
	fieldNone eventField = iota // a comment, or a field that nobody knows
	fieldData
	fieldID
	fieldName
	fieldRetry
)

// eventReader reads an event stream. It holds no line in one piece, so that the length of a line costs nothing but the
// data in it. It has one user at a time.
type eventReader struct {
	r       io.Reader
	maxData int
	results *bounds.Account

	buf        []byte
	start, end int // what was read and not yet looked at
	// the next of each from start on, or end; looked for once only, so that a file without the one costs no more
	lf, cr int
	err    error // comes after what was read before it

	// The line at hand.
	label   []byte // what stands before the colon, as far as it can be the name of a known field
	colon   bool   // was seen
	blank   bool   // one blank after the colon does not count
	field   eventField
	value   []byte // of an id, a name or a retry
	tooLong bool   // value is
	first   bool   // of the stream, so that a byte order mark may stand before it
	afterCR bool   // a line feed would still belong to the line before

	// The event at hand.
	ev      event
	data    longtext.Text // becomes ev.data
	hasData bool
	long    *jsontext.TooLongError // takes the place of the data
}

// maxLabel is one more than the longest known field with a byte order mark before it.
const maxLabel = len("\ufeffevent") + 1

// newEventReader reads events from r. maxData bounds the data of one event, in bytes; long ones count on results from
// the first part that was read of them.
func newEventReader(r io.Reader, maxData int, results *bounds.Account) *eventReader {
	return &eventReader{r: r, maxData: maxData, results: results, first: true, label: make([]byte, 0, maxLabel)}
}

// release gives back what an event holds that will not be read to its end.
func (r *eventReader) release() { r.ev.hold.Release() }

// next gives the next event that says anything. An event that the stream breaks off is dropped: the error is then
// io.ErrUnexpectedEOF if it had begun to carry data, else io.EOF. A *jsontext.TooLongError stands for the data
// of the event beside it; any other error is the end, and stays.
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

// message gives the next event that carries a message, and notes in at how far the stream has been read. Events of
// other names mean nothing to us. The errors are those of next.
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

// lineEnd is where the line at hand ends in the buffer; end, when it does not.
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

// fill reads once. All that was read before has been looked at.
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
