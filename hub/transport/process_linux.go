package transport

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// group is the child's process group. The child is its leader and stays unreaped
// until reap: a zombie leader keeps the number from being used again, so signal
// cannot hit a stranger.
type group struct {
	cmd *exec.Cmd
	id  int
}

func newGroup(cmd *exec.Cmd) (*group, error) { return &group{cmd: cmd, id: cmd.Process.Pid}, nil }

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

// empty reports whether no living process but the child itself is in the group.
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
func (g *group) members() (int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	n, readable := 0, false
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // ended meanwhile, or not ours to see
		}
		readable = true
		if pgrp, alive := parseStat(stat); alive && pgrp == g.id && pid != g.id {
			n++
		}
	}
	if !readable {
		return 0, os.ErrNotExist
	}
	return n, nil
}

// parseStat reads the group and the state out of /proc/N/stat (proc(5)). The
// name in parentheses may hold anything, so the fields are counted after the last one.
func parseStat(stat []byte) (pgrp int, alive bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0, false
	}
	pgrp, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return 0, false
	}
	switch fields[0][0] {
	case 'Z', 'X', 'x':
		return pgrp, false
	}
	return pgrp, true
}
