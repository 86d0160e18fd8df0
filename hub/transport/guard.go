package transport

import (
	"bufio"
	"encoding/json"
	"io"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// guardLine is one line that the hub writes to its guard. Each is far below
// PIPE_BUF, so it goes whole or not at all.
type guardLine struct {
	Marker  string       `json:"marker,omitempty"` // the hub's; the first line
	Started *groupRecord `json:"started,omitempty"`
	Ended   *ident       `json:"ended,omitempty"`
	Done    bool         `json:"done,omitempty"` // an orderly end: nothing is left to do
}

// groupRecord is what guard and ledger know of a running server.
type groupRecord struct {
	ident
	Name   string `json:"name,omitempty"`   // of the program alone: no path, no arguments
	Cgroup string `json:"cgroup,omitempty"` // its directory
}

// guardPatience bounds how long a guard tries to end what does not end.
const guardPatience = 30 * time.Second

// RunGuard is the whole life of the guard process: it reads what the hub tells it
// through in, and when that ends without the word that all is done, the hub is
// dead, and everything that it was told of is killed. It returns the exit status.
//
// It changes the signal handling and the garbage collection of its process, so it
// is for a process that does nothing else, started by a Containment with the
// command line of ContainmentOptions.GuardCommand.
func RunGuard(in io.Reader) int {
	// It outlives whoever ends the hub politely; its own end is that of its pipe.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	debug.SetGCPercent(20)
	debug.FreeOSMemory() // what the start of the program left

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
		// The hub held the numbers of these groups until a moment ago, so one
		// whose leader is gone is still its own. One that a new process has is not.
		if g.sight() != stranger {
			killGroup(g.PID)
		}
		notedCgroup(g.Cgroup, marker).kill()
	}
	_, clean := sweepMarked(marker, guardPatience)
	for _, g := range groups {
		notedCgroup(g.Cgroup, marker).remove()
	}
	if !clean {
		return 1
	}
	return 0
}
