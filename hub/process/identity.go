package process

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
)

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

// Living reports whether a process still runs. One that has ended and was not waited for does not; one that cannot be
// looked up does.
func Living(pid int) bool {
	_, living, err := lookUp(pid)
	return living || err != nil && err != errNoProcess
}

// identify returns the identity of an existing process, which may be a zombie.
func identify(pid int) (ident, error) {
	start, _, err := lookUp(pid)
	return ident{PID: pid, Start: start}, err
}

// errNoProcess is the error of lookUp for a number that no process has.
var errNoProcess = errors.New("there is no such process")

// MarkerVariable is the environment variable by which the processes of a hub are found after they have left their
// process group. Its value is a random text for each hub, followed by "/" and the number of the server. It is no
// secret.
const MarkerVariable = "MCPHUB_CONTAINED_BY"

func newMarker() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

func serverMarker(hub string, number int) string { return hub + "/" + strconv.Itoa(number) }

// withMarker appends the marker to env. The marker has to be the last variable: programs that write a title over their
// arguments go on into the environment from its beginning.
func withMarker(env []string, marker string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, MarkerVariable+"=") })
	return append(env, MarkerVariable+"="+marker)
}

// hubNeedle and serverNeedle return the text that is searched for in /proc/N/environ, where each variable ends with a
// zero byte: for all servers of a hub, and for one server.
func hubNeedle(hub string) string { return "\x00" + MarkerVariable + "=" + hub + "/" }

func serverNeedle(marker string) string { return "\x00" + MarkerVariable + "=" + marker + "\x00" }

// validMarker reports whether hub is a complete marker. It checks what was read from a file or a pipe: a short marker
// would match too many processes.
func validMarker(hub string) bool {
	b, err := hex.DecodeString(hub)
	return err == nil && len(b) == 12
}
