package transport

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
	// Code is the exit status of the direct child: -1 when a signal ended it,
	// and as long as it runs.
	Code int
	// Signal is the name of the signal that ended the direct child, such as
	// "SIGKILL"; empty when it exited.
	Signal string
	// Stage is where the direct child ended; empty as long as it runs.
	Stage Stage
	// Group is where the last process of its group ended. It differs from
	// Stage when something outlived the direct child.
	Group Stage
	// Why is the reason given to the first Stop or Kill, at most 256 runes with
	// control characters escaped; empty when the child exited on its own.
	Why string
	// Memory is set when the process was killed because it used more than
	// Command.MemoryLimit; then Why says it in words.
	Memory MemoryUse
	// Err is set when something could not be ended, or the child's status could
	// not be had. It is nil for every ordinary end, whatever the code.
	Err error
}

// MemoryUse is a use of memory that was over its limit, in bytes.
type MemoryUse struct {
	Limit int64
	Used  int64 // as it was seen last
}

// String says it in words for people: "it used 812 MiB, more than its memory
// limit of 512 MiB". It is empty for the zero value.
func (m MemoryUse) String() string {
	if m == (MemoryUse{}) {
		return ""
	}
	return "it used " + mebibytes(m.Used) + ", more than its memory limit of " + mebibytes(m.Limit)
}

func mebibytes(n int64) string {
	if n < 10<<20 && n%(1<<20) != 0 {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// String says it in one line, for messages to people.
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
