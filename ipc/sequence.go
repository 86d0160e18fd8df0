package ipc

// lateBits is how many low bits of a sequence number of the window stream are not part of the hub's number.
const lateBits = 16

// position is a place in a window's stream. The sequence number that a window sees consists of the hub's number of the
// latest event that was not late, and the number of late events since then.
//
// Progress is held back to keep its rate, so it may be sent after events to which the hub has given higher numbers.
// Then it cannot keep its number, since numbers must rise strictly; nor can it take the next number, which belongs to
// another event. So a sequence number has room below the hub's number. A window that resumes from a late event resumes
// from the hub's number in it: the progress is not sent again, but the present state is shown.
type position struct {
	base uint64 // the hub's number
	late uint64 // below 1<<lateBits
}

// positionOf splits a window's sequence number.
func positionOf(sequence uint64) position {
	return position{base: sequence >> lateBits, late: sequence & (1<<lateBits - 1)}
}

// sequence returns the number that the window sees.
func (p position) sequence() uint64 { return p.base<<lateBits | p.late }

// after returns the place of the event to which the hub has given the number seq. An event is late if a later number
// was sent already. ok is false, and the event is left out, if 65,535 late events have been sent since the latest one
// that was not late: that would take as many requests at the same time.
func (p position) after(seq uint64) (next position, ok bool) {
	if seq > p.base {
		return position{base: seq}, true
	}
	if p.late+1 == 1<<lateBits {
		return p, false
	}
	return position{base: p.base, late: p.late + 1}, true
}
