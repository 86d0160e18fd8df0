package transport

import (
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"
)

// guardLink is the hub's side of its guard: it starts one when there is none, and
// tells it of every group. What a guard has to know is kept, so that the next
// one can be told the same.
type guardLink struct {
	command []string
	marker  string
	log     *slog.Logger

	mu       sync.Mutex
	groups   map[ident]groupRecord // guarded by mu: all that run
	guard    *guardProcess         // guarded by mu: nil when there is none
	starting chan struct{}         // guarded by mu: closed when the start that is under way is over; nil when none is
	told     bool                  // guarded by mu: that no guard can be started was logged
}

// guardProcess is one guard. Whoever takes it out of guardLink.guard ends it.
type guardProcess struct {
	cmd  *exec.Cmd
	in   *os.File
	gone chan struct{} // closed by watch, once it has been reaped
}

// guardGoodbye is how long close waits for a guard that was told that all is done.
const guardGoodbye = 2 * time.Second

func newGuardLink(command []string, marker string, log *slog.Logger) *guardLink {
	if !guardable {
		command = nil
	}
	return &guardLink{command: command, marker: marker, log: log, groups: make(map[ident]groupRecord)}
}

// ensure starts a guard when there is none. Callers that come meanwhile wait for
// that start. Without a guard the servers start all the same.
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

// watch notices the end of a guard. The next server starts another.
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

// drop lets go of the guard; the end of its pipe tells it the rest. mu is held.
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

// write never waits. mu is held. A guard that reads nothing is as good as none:
// it is killed, and not let go, since it must not take the end of its pipe for the
// death of the hub.
func (l *guardLink) write(line guardLine) {
	if l.guard == nil {
		return
	}
	b, err := json.Marshal(line)
	if err != nil {
		return // cannot be: nothing but numbers and text
	}
	b = append(b, '\n')
	if writeNow(l.guard.in, b) != len(b) {
		_ = l.guard.cmd.Process.Kill() // watch does the rest
	}
}

// close ends the guard. When all groups are gone it has nothing to do; otherwise
// it takes the end of its pipe for what it is and kills them. Nothing is started
// any more.
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
	wait(g.gone, guardGoodbye)
	if clean && !isClosed(g.gone) { // stopped, or starved
		_ = g.cmd.Process.Kill()
		<-g.gone
	}
}
