package process

import (
	"bufio"
	"encoding/json"
	"io"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// guardLine is one line that the hub writes to its guard. Each line is far shorter than PIPE_BUF, so it is written
// whole or not at all.
type guardLine struct {
	Marker  string       `json:"marker,omitempty"` // of the hub; in the first line
	Started *groupRecord `json:"started,omitempty"`
	Ended   *ident       `json:"ended,omitempty"`
	Done    bool         `json:"done,omitempty"` // an orderly end: nothing is left to do
}

// groupRecord is what the guard and the ledger know about a running server.
type groupRecord struct {
	ident
	Name string `json:"name,omitempty"` // base name of the program: no path, no arguments
}

// guardPatience bounds how long a guard tries to end processes that do not end.
const guardPatience = 30 * time.Second

// RunGuard runs the guard process, and returns its exit status. It reads from in which process groups the hub starts
// and which have ended. If in ends without the line that says that all is done, the hub is dead: RunGuard then kills
// the groups that have not ended, and everything that carries the hub's marker.
//
// RunGuard changes the signal handling and the garbage collection of its process, so that process must do nothing else.
// A Containment starts it with the command line ContainmentOptions.GuardCommand.
func RunGuard(in io.Reader) int {
	// The guard has to outlive the hub, so it ignores the signals that end a hub. It ends when its pipe ends.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	debug.SetGCPercent(20)
	debug.FreeOSMemory() // the memory that the start of the program has used

	marker := ""
	groups := map[ident]groupRecord{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var l guardLine
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue // the last line of a hub that died while it wrote
		}
		switch {
		case l.Done:
			return 0
		case l.Started != nil:
			groups[l.Started.ident] = *l.Started
		case l.Ended != nil:
			delete(groups, *l.Ended)
		case validMarker(l.Marker):
			marker = l.Marker
		}
	}
	if marker == "" {
		return 0 // the hub died before it started anything
	}
	for _, g := range groups {
		// The hub owned the numbers of these groups until a moment ago. So the number of a group whose leader is gone still
		// belongs to the group. Only a number that a new process has does not.
		if g.sight() != stranger {
			killGroup(g.PID)
		}
	}
	if _, clean := sweepMarked(marker, guardPatience); !clean {
		return 1
	}
	return 0
}
