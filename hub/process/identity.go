package process

// ident identifies one process for as long as the system runs. The system reuses process numbers, but not a number
// together with a start time.
type ident struct {
	PID int `json:"pid"`
	// Start is when the process started, in a unit of the system's own: clock
	// ticks since boot on Linux, an absolute time elsewhere. It is only compared.
	Start uint64 `json:"start"`
}

// presence says what is left of a process that was seen earlier.
type presence int

const (
	unknown  presence = iota // the system does not say
	absent                   // no process has its number
	stranger                 // another process has its number
	remains                  // it has ended and was not reaped, so its number was not reused
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

// identify returns the identity of an existing process, which may be a zombie.
func identify(pid int) (ident, error) {
	start, _, err := lookUp(pid)
	return ident{PID: pid, Start: start}, err
}

// lookupError is a constant error.
type lookupError string

func (e lookupError) Error() string { return string(e) }

// errNoProcess is the error of lookUp for a number that no process has.
const errNoProcess = lookupError("there is no such process")
