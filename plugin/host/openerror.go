package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// OpenReason is the reason why a hub could not be opened.
type OpenReason string

// Reasons of an OpenError.
const (
	// NotFound: there is no such command.
	NotFound OpenReason = "NOT_FOUND"
	// NotStarted: the system refused to run the command.
	NotStarted OpenReason = "NOT_STARTED"
	// Exited: the process ended before it could be reached; Stderr says why.
	Exited OpenReason = "EXITED"
	// NotAHub: the process runs, but its standard output is not that of a hub.
	NotAHub OpenReason = "NOT_A_HUB"
	// WrongVersion: the hub speaks another major version of the contract.
	WrongVersion OpenReason = "WRONG_VERSION"
	// TooOld: the hub speaks the same contract, but lacks what this program needs.
	TooOld OpenReason = "TOO_OLD"
	// TimedOut: the hub did not answer within StartTimeout.
	TimedOut OpenReason = "TIMED_OUT"
	// Cancelled: the context of Open ended.
	Cancelled OpenReason = "CANCELLED"
	// NoAnswer: the hub started, but cannot be reached.
	NoAnswer OpenReason = "NO_ANSWER"
)

// OpenError is the error of Open.
type OpenError struct {
	// Reason is the reason, for programs.
	Reason OpenReason
	// Message says what happened and what to do, in one line.
	Message string
	// Stderr holds the last lines of the hub's standard error, at most 20, without log lines below warn.
	Stderr []string
	// Err is the underlying error, nil if the message says everything.
	Err error
}

func (e *OpenError) Error() string {
	text := "mcphub: " + e.Message
	if len(e.Stderr) > 0 {
		text += "\nits last lines were:\n  " + strings.Join(e.Stderr, "\n  ")
	}
	return text
}

// Unwrap returns the underlying error: the cause with which the context ended, or the error of the system.
func (e *OpenError) Unwrap() error { return e.Err }

// openError returns the error of an opening that failed with err, or because its context had ended with cause. The
// process must have ended.
func (p *process) openError(cause error, o Options, err error) error {
	p.mu.Lock()
	startErr, ours, alone, first := p.startErr, p.ours, p.alone, p.first
	p.mu.Unlock()
	e := &OpenError{Stderr: p.logs.last(), Err: err}
	command := strconv.Quote(o.Command)
	core, version, shook := parseHandshake(first)
	old, tooOld := errors.AsType[*tooOldError](err)
	switch {
	case tooOld:
		e.Reason = TooOld
		e.Message = fmt.Sprintf("%s is hub %s, and this program needs hub %s or later: update mcphub", command,
			strconv.Quote(old.version), handshake.OldestHub)
	case ours:
		e.Reason = NotStarted
		e.Message = fmt.Sprintf(
			"nothing was started (%v): this program needs a directory for temporary files and random numbers", startErr)
	case errors.Is(startErr, exec.ErrNotFound) || errors.Is(startErr, fs.ErrNotExist):
		e.Reason, e.Err = NotFound, startErr
		e.Message = fmt.Sprintf("%s was not found: install mcphub, or give the path of its binary", command)
	case startErr != nil && !errors.Is(startErr, errKilledEarly):
		e.Reason, e.Err = NotStarted, startErr
		e.Message = fmt.Sprintf("%s could not be started (%v): check that it may be executed and was built for this machine",
			command, startErr)
	case shook && (core != goplugin.CoreProtocolVersion || version != handshake.ProtocolVersion):
		e.Reason = WrongVersion
		e.Message = fmt.Sprintf(
			"%s speaks version %d of the contract (go-plugin %d), this program version %d (go-plugin %d): update whichever is older",
			command, version, core, handshake.ProtocolVersion, goplugin.CoreProtocolVersion)
	case first != "" && !shook:
		e.Reason = NotAHub
		e.Message = fmt.Sprintf(
			"%s is no hub: it began with %.80q where a handshake was due; check the command and its arguments", command, first)
	case alone:
		e.Reason = Exited
		e.Message = fmt.Sprintf("%s ended before it could be reached (%v): %s", command, p.cmd.ProcessState, p.exitHint())
	case errors.Is(cause, errStartTimeout):
		e.Reason, e.Err = TimedOut, context.DeadlineExceeded
		e.Message = fmt.Sprintf("%s did not answer within %v: look at what keeps it, or raise StartTimeout", command,
			o.StartTimeout)
	case cause != nil:
		e.Reason, e.Err = Cancelled, cause
		e.Message = fmt.Sprintf("opening %s was given up (%v)", command, cause)
	default:
		e.Reason = NoAnswer
		e.Message = fmt.Sprintf("%s started but could not be reached (%v)", command, err)
	}
	return e
}

// tooOldError is the error for a hub that answers but is older than handshake.OldestHub.
type tooOldError struct{ version string }

func (e *tooOldError) Error() string { return "hub " + e.version + " is too old" }

func (p *process) exitHint() string {
	if len(p.logs.last()) == 0 {
		return "it wrote nothing; run it by hand to see why"
	}
	return "see its last lines"
}

// parseHandshake returns the two versions in a handshake line, CORE|APP|NETWORK|ADDR|PROTOCOL|CERT. go-plugin parses
// the rest.
func parseHandshake(line string) (core, version int, ok bool) {
	parts := strings.Split(line, "|")
	if len(parts) < 4 {
		return 0, 0, false
	}
	core, err1 := strconv.Atoi(parts[0])
	version, err2 := strconv.Atoi(parts[1])
	return core, version, err1 == nil && err2 == nil
}
