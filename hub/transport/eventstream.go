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
	// the time; a field of maxEventField bytes fits in.
	idleEventBuffer = maxEventField + 64
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

// eventReader reads an event stream. It does not buffer whole lines of data, so a long one costs no more memory than
// the data in it. It must not be used concurrently.
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

	first   bool // the line is the first of the stream, and may begin with a byte order mark
	afterCR bool // a line feed that follows belongs to the previous line
	within  bool // the beginning of the line was processed: it is too long for the buffer
	inData  bool // that line is one of data; any other is skipped

	// The current event.
	ev      event
	data    bounds.Text // becomes ev.data
	hasData bool
	long    *jsontext.TooLongError // set if the data is too long; replaces the data
}

// newEventReader returns a reader of the events in r. maxData bounds the data of one event, in bytes. Long data is
// charged to results from the time its first part was read.
func newEventReader(r io.Reader, maxData int, results *bounds.Account) *eventReader {
	return &eventReader{r: r, maxData: maxData, results: results, first: true}
}

// release ends the accounting of the current event, which will not be read to its end.
func (r *eventReader) release() { r.ev.hold.Release() }

// next returns the next event that has data, an id or a retry. If the stream ends within an event, that event is
// dropped; the error is io.ErrUnexpectedEOF if some of its data was read, else io.EOF. With a *jsontext.TooLongError,
// the event is valid but for its data, and the stream goes on. Any other error is the end of the stream, and later
// calls return it again.
func (r *eventReader) next() (event, error) {
	for {
		part, ended, ok := r.part()
		switch {
		case ok:
		case r.err == io.EOF && r.hasData:
			return event{}, io.ErrUnexpectedEOF
		case r.err != nil:
			return event{}, r.err
		default:
			r.fill()
			continue
		}
		if blank := len(part) == 0 && ended && !r.within; !blank {
			r.take(part, ended)
		} else if ev, ok, err := r.dispatch(); ok {
			return ev, err
		}
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

// part returns the next line without its end, if it was read as a whole. Of a line of data, and of one that is too long
// for the buffer, it returns what was read of it, and ended says whether that is all.
func (r *eventReader) part() (part []byte, ended, ok bool) {
	if r.afterCR && r.start < r.end {
		r.afterCR = false
		if r.buf[r.start] == '\n' {
			r.start++
		}
	}
	if r.lf < r.start {
		r.lf = r.find('\n')
	}
	if r.cr < r.start {
		r.cr = r.find('\r')
	}
	at := min(r.lf, r.cr)
	part = r.buf[r.start:at]
	ended, full := at < r.end, len(part) == len(r.buf)
	if r.first {
		part = bytes.TrimPrefix(part, []byte("\ufeff"))
	}
	// What follows the colon decides whether a blank is skipped, so data is taken once something does.
	data := bytes.HasPrefix(part, []byte("data:")) && (len(part) > len("data:") || r.err != nil)
	if !ended && (at == r.start || !r.within && !data && !full) {
		return nil, false, false
	}
	r.start, r.first = at, false
	if ended {
		r.start, r.afterCR = at+1, r.buf[at] == '\r'
	}
	return part, ended, true
}

func (r *eventReader) find(c byte) int {
	if i := bytes.IndexByte(r.buf[r.start:r.end], c); i >= 0 {
		return r.start + i
	}
	return r.end
}

// take processes a line, or a part of it.
func (r *eventReader) take(part []byte, ended bool) {
	begins := !r.within
	r.within = !ended
	var name []byte
	if begins {
		name, part, _ = bytes.Cut(part, []byte{':'})
		part = bytes.TrimPrefix(part, []byte{' '})
		r.inData = string(name) == "data"
	}
	switch {
	case r.inData:
		if begins && r.hasData {
			r.add([]byte{'\n'})
		}
		r.hasData = true
		r.add(part)
		return
	case !begins, !ended, len(part) > maxEventField:
		return
	}
	switch string(name) {
	case "id":
		if bytes.IndexByte(part, 0) < 0 {
			r.ev.id, r.ev.hasID = string(part), true
		}
	case "event":
		r.ev.name = string(part)
	case "retry":
		if wait, ok := milliseconds(part); ok {
			r.ev.retry, r.ev.hasRetry = wait, true
		}
	}
}

// milliseconds parses a number that consists of digits only. A number that no Duration can hold becomes the longest
// Duration.
func milliseconds(digits []byte) (time.Duration, bool) {
	n, err := strconv.ParseUint(string(digits), 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, false
	case n > math.MaxInt64/uint64(time.Millisecond):
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

// fill reads into the buffer once, behind what was not processed.
func (r *eventReader) fill() {
	size := idleEventBuffer
	if r.data.Len() >= idleEventBuffer || r.long != nil {
		size = busyEventBuffer
	}
	rest := r.buf[r.start:r.end]
	if len(r.buf) != size && len(rest) < size {
		r.buf = make([]byte, size)
	}
	r.start, r.end, r.lf, r.cr = 0, copy(r.buf, rest), -1, -1
	for range 100 { // a reader may return nothing now and then, but not for ever
		n, err := r.r.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}
