package process

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"sync"
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

// guardLink is the hub's side of its guard. It starts a guard if there is none, and reports every process group to it.
// It keeps what a guard has to know, so that the next guard can be told the same.
type guardLink struct {
	command []string
	marker  string
	log     *slog.Logger

	mu       sync.Mutex
	groups   map[ident]groupRecord // guarded by mu: all groups that run
	guard    *guardProcess         // guarded by mu: nil when there is none
	starting chan struct{}         // guarded by mu: closed when the start that is under way is over; nil when none is
	told     bool                  // guarded by mu: it was logged that no guard can be started
}

// guardProcess is one guard process. Whoever removes it from guardLink.guard ends it.
type guardProcess struct {
	cmd  *exec.Cmd
	in   *os.File
	gone chan struct{} // closed by watch, once it has been reaped
}

// guardGoodbye is how long close waits for the guard to exit.
const guardGoodbye = 2 * time.Second

func newGuardLink(command []string, marker string, log *slog.Logger) *guardLink {
	if !guardable {
		command = nil
	}
	return &guardLink{command: command, marker: marker, log: log, groups: make(map[ident]groupRecord)}
}

// ensure starts a guard if there is none. Concurrent callers wait for the same start. If no guard can be started,
// servers start without one.
func (l *guardLink) ensure() {
	l.mu.Lock()
	if l.guard != nil || len(l.command) == 0 {
		l.mu.Unlock()
		return
	}
	if wait := l.starting; wait != nil {
		l.mu.Unlock()
		<-wait
		return
	}
	over := make(chan struct{})
	l.starting = over
	l.mu.Unlock()

	g, err := startGuard(l.command)

	l.mu.Lock()
	l.starting = nil
	warn := err != nil && !l.told
	l.told = l.told || warn
	if err == nil {
		go l.watch(g) // ends with the guard; close waits for it
		l.guard = g
		l.write(guardLine{Marker: l.marker})
		for _, r := range l.groups {
			l.write(guardLine{Started: &r})
		}
	}
	l.mu.Unlock()
	close(over)
	if warn {
		l.log.Warn("no guard could be started: should the hub be killed, servers may outlive it until the next start",
			"error", cause(err).Error())
	}
}

// watch waits for the end of a guard process. The start of the next server starts another guard.
func (l *guardLink) watch(g *guardProcess) {
	_ = g.cmd.Wait()
	l.mu.Lock()
	lost := l.guard == g
	if lost {
		l.drop()
	}
	l.mu.Unlock()
	if lost {
		l.log.Warn("the guard of the server processes ended; the next server starts another", "pid", g.cmd.Process.Pid)
	}
	close(g.gone)
}

// drop forgets the guard and closes its pipe. The guard acts on the end of the pipe. Called with mu held.
func (l *guardLink) drop() {
	_ = l.guard.in.Close()
	l.guard = nil
}

func (l *guardLink) started(r groupRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups[r.ident] = r
	l.write(guardLine{Started: &r})
}

func (l *guardLink) ended(r groupRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.groups, r.ident)
	l.write(guardLine{Ended: &r.ident})
}

// write sends a line to the guard, and never blocks. Called with mu held. A guard that does not read is useless, so
// write kills it. It does not close the pipe, since the guard would take the end of the pipe for the death of the hub.
func (l *guardLink) write(line guardLine) {
	if l.guard == nil {
		return
	}
	b, err := json.Marshal(line)
	if err != nil {
		return // cannot happen: the line holds only numbers and text
	}
	b = append(b, '\n')
	if writeNow(l.guard.in, b) != len(b) {
		_ = l.guard.cmd.Process.Kill() // watch does the rest
	}
}

// close ends the guard. If all groups are gone, the guard is told so and exits. Otherwise it only sees the end of its
// pipe, and kills the groups that are left. No process may be started after close.
func (l *guardLink) close() {
	l.mu.Lock()
	g, clean := l.guard, len(l.groups) == 0
	if g != nil {
		if clean {
			l.write(guardLine{Done: true})
		}
		l.drop()
	}
	l.mu.Unlock()
	if g == nil {
		return
	}
	wait(g.gone, nil, guardGoodbye)
	if clean && !isClosed(g.gone) { // the guard is stopped, or gets no CPU time
		_ = g.cmd.Process.Kill()
		<-g.gone
	}
}
