package transport

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

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
