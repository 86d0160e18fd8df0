package transport

// ident names one process for as long as the system runs. Numbers are used
// again; a number together with the start of its process is not.
type ident struct {
	PID int `json:"pid"`
	// Start is when the process started, in a unit of the system's own: clock
	// ticks since boot on Linux, an absolute time elsewhere. It is only compared.
	Start uint64 `json:"start"`
}

// presence is what there is now of a process that once was.
type presence int

const (
	unknown  presence = iota // the system does not say
	absent                   // nothing has its number
	stranger                 // another process has its number
	remains                  // it has ended and was not reaped yet: the number is still its own
	present
)

// sight compares what lookUp says of i.PID with i.
func (i ident) sight() presence {
	start, living, err := lookUp(i.PID)
	switch {
	case err == errNoProcess:
		return absent
	case err != nil:
		return unknown
	case start != i.Start:
		return stranger
	case !living:
		return remains
	}
	return present
}

// identify gives the identity of a process that is there, zombies included.
func identify(pid int) (ident, error) {
	start, _, err := lookUp(pid)
	return ident{PID: pid, Start: start}, err
}

// lookupError is a constant error.
type lookupError string

func (e lookupError) Error() string { return string(e) }

// errNoProcess is what lookUp answers for a number that nobody has.
const errNoProcess = lookupError("there is no such process")
