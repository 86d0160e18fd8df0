package process

import (
	"fmt"
	"strings"
)

// Stage is the step at which a process ended.
type Stage string

const (
	StageExited     Stage = "exited"     // on its own, before anything was done to it
	StageStdin      Stage = "stdin"      // after its stdin was closed
	StageTerminated Stage = "terminated" // after SIGTERM to the group
	StageKilled     Stage = "killed"     // after SIGKILL to the group, or the job was ended
)

// Exit is how a process ended.
type Exit struct {
	// Code is the exit status of the direct child. It is -1 if a signal ended the child, and while the child runs.
	Code int
	// Signal is the name of the signal that ended the direct child, such as "SIGKILL"; empty if the child exited.
	Signal string
	// Stage is the step at which the direct child ended; empty while the child runs.
	Stage Stage
	// Group is the step at which the last process of the group ended. It differs from Stage if a process outlived the
	// direct child.
	Group Stage
	// Why is the reason given to the first Stop or Kill, at most 256 runes with
	// control characters escaped; empty when the child exited on its own.
	Why string
	// Err is set if a process could not be ended or the status of the child could not be read. It is nil for every
	// ordinary end, whatever the exit code.
	Err error
}

// String describes the end in one line, for messages to people.
func (e Exit) String() string {
	var b strings.Builder
	switch {
	case e.Stage == "":
		b.WriteString("running")
	case e.Signal != "":
		b.WriteString("ended by " + e.Signal)
	default:
		fmt.Fprintf(&b, "exited with code %d", e.Code)
	}
	switch e.Stage {
	case StageStdin:
		b.WriteString(" after its stdin was closed")
	case StageTerminated:
		b.WriteString(" after it was told to terminate")
	case StageKilled:
		b.WriteString(" after it was killed")
	}
	if e.Why != "" {
		b.WriteString(" (" + e.Why + ")")
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}
