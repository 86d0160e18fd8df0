//go:build unix && !linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the child's process group. The child is reaped as soon as it exits. POSIX keeps the number of a group from
// being reused as long as the group has a member, so the group is signalled only as long as empty has not found it
// without members.
type group struct {
	cmd    *exec.Cmd
	id     int
	state  *os.ProcessState // written before await returns
	status error            // likewise
}

func newGroup(cmd *exec.Cmd, _ *enclosure) (*group, error) {
	return &group{cmd: cmd, id: cmd.Process.Pid}, nil
}

func (g *group) await() { g.state, g.status = g.cmd.Process.Wait() }

func (g *group) reap() (*os.ProcessState, error) { return g.state, g.status }

// empty reports whether the group has no member. It is called only after await has returned. EPERM means that there is
// a member.
func (g *group) empty() bool { return unix.Kill(-g.id, 0) == unix.ESRCH }

func (g *group) survivors() error {
	return fmt.Errorf("processes of group %d did not end after they were killed", g.id)
}

// signalStrays does nothing: processes that left the group cannot be found here.
func (g *group) signalStrays(...unix.Signal) {}

// dieWithHub does nothing: these systems have no parent-death signal, or none that has been tried.
func dieWithHub(*syscall.SysProcAttr) {}
