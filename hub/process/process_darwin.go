package process

import (
	"errors"
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

// dieWithHub does nothing: macOS has no parent-death signal.
func dieWithHub(*syscall.SysProcAttr) {}

// startProcess calls cmd.Start directly: here the end of a thread does not affect a child.
func startProcess(cmd *exec.Cmd) error {
	closeOnExec()
	return cmd.Start()
}

func closeOnExec() { closeEachOnExec() }

const stateZombie = 5 // SZOMB of sys/proc.h

// lookUp asks kern.proc.pid. The start is absolute, in microseconds.
func lookUp(pid int) (start uint64, living bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) { // EIO is what x/sys makes of an empty answer
		return 0, false, errNoProcess
	}
	if err != nil {
		return 0, false, err
	}
	if int(info.Proc.P_pid) != pid {
		return 0, false, errNoProcess
	}
	t := info.Proc.P_starttime
	return uint64(t.Sec)*1e6 + uint64(t.Usec), info.Proc.P_stat != stateZombie, nil
}

// bootID is not needed where the start of a process is an absolute time.
func bootID() string { return "" }
