package transport

import (
	"fmt"
	"os"
	"os/exec"
	"slices"

	"golang.org/x/sys/unix"
)

// group is the child's process group, with those that left it and still carry the
// server's marker, or are in its cgroup. The child is its leader and stays
// unreaped until reap: a zombie leader keeps the number from being used again, so
// signal cannot hit a stranger.
type group struct {
	cmd    *exec.Cmd
	id     int
	start  uint64  // of the leader: nobody who belongs to it is older
	needle string  // empty without a Containment: then nobody is followed
	cgroup *cgroup // nil where there is none
	// killing is set by the first kill: from then on whoever is found outside
	// the group is killed at sight. It is the supervisor's alone.
	killing bool
}

func newGroup(cmd *exec.Cmd, in *enclosure) (*group, error) {
	g := &group{cmd: cmd, id: cmd.Process.Pid}
	if self, err := identify(g.id); err == nil {
		g.start = self.Start
	}
	if in != nil {
		g.needle, g.cgroup = serverNeedle(in.marker), in.cgroup
	}
	return g, nil
}

// await returns when the child has exited, and leaves it as a zombie.
func (g *group) await() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, g.id, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return // ECHILD cannot be: nobody else reaps our child
		}
	}
}

// reap ends what empty may have missed (a member that forked while /proc was
// read) while the number is still ours, and takes the child's status.
func (g *group) reap() (*os.ProcessState, error) {
	g.kill()
	return g.cmd.Process.Wait()
}

// empty reports whether no living process but the child itself belongs to the group.
func (g *group) empty() bool {
	n, err := g.members()
	return err == nil && n == 0
}

// remains describes what could not be ended; nil when that cannot be known.
func (g *group) remains() error {
	if n, err := g.members(); err == nil && n > 0 {
		return fmt.Errorf("%d processes of group %d did not end after they were killed", n, g.id)
	}
	return nil
}

// members counts in /proc. kill(-id, 0) would not do: it also finds zombies, the
// unreaped child among them, and those that a container without an init leaves
// for ever. Where /proc cannot be read the error makes the sweep go through all
// its stages.
func (g *group) members() (n int, err error) {
	if g.needle == "" {
		err = eachProcess(func(s procStat) {
			if s.living() && s.pgrp == g.id && s.pid != g.id {
				n++
			}
		})
		return n, err
	}
	inside := 0
	strays, settled, err := g.strays(func(procStat) { inside++ })
	if err != nil {
		return 0, err
	}
	if g.killing {
		for _, pid := range strays {
			signalMarked(pid, g.needle, unix.SIGKILL)
		}
	}
	n = inside + len(strays)
	if n == 0 && !settled {
		n = 1 // somebody is in the middle of exec: not empty for sure
	}
	if n == 0 && g.cgroup.populated() {
		if n = 1; g.killing {
			g.cgroup.kill()
		}
	}
	return n, nil
}

// strays gives the living processes that left the group with the server's marker,
// and calls member for those that stayed in it, the leader aside.
func (g *group) strays(member func(procStat)) (pids []int, settled bool, err error) {
	found, settled, err := marked(g.needle, func(s procStat) bool {
		if s.pgrp == g.id {
			if s.pid != g.id {
				member(s)
			}
			return false
		}
		return s.pid != g.id && s.start >= g.start
	})
	for _, s := range found {
		pids = append(pids, s.pid)
	}
	return pids, settled, err
}

// signalStrays signals those outside the group that signal does not reach.
func (g *group) signalStrays(signals ...unix.Signal) {
	if slices.Contains(signals, unix.SIGKILL) {
		g.killing = true
		g.cgroup.kill()
	}
	if g.needle == "" {
		return
	}
	pids, _, err := g.strays(func(procStat) {})
	if err != nil {
		return
	}
	for _, pid := range pids {
		signalMarked(pid, g.needle, signals...)
	}
}

// release gives back what the group had besides its number, once it is over.
func (g *group) release() { g.cgroup.remove() }
