package ipc

// lateBits is how many bits of a sequence number of the window stream lie below the hub's own number.
const lateBits = 16

// position is a place in a window's stream. The sequence number that a window sees is the hub's number of the latest
// event that was not late, and a count of the late ones since.
//
// Progress is held back to keep its rate, so it may go out after events that the hub numbered later. It cannot keep its
// number then, for numbers rise strictly; nor can it take the next one, which belongs to another event. Room below the
// hub's number solves it, and a window that resumes from a late event resumes from the hub's number in it: progress is
// not sent again, but shown anew.
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

// after gives the place of the event with the hub's number seq. Late is an event whose number has been passed already.
// There is no place, and the event is left out, once 65,535 late ones stand between two that are not: that would take
// as many requests at the same time.
func (p position) after(seq uint64) (next position, ok bool) {
	if seq > p.base {
		return position{base: seq}, true
	}
	if p.late+1 == 1<<lateBits {
		return p, false
	}
	return position{base: p.base, late: p.late + 1}, true
}
