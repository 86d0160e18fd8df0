package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the child's process group, with the processes that have left it but carry the server's marker. The child is
// the leader of the group, and is not reaped before reap: while the leader is a zombie, the number is not reused, so a
// signal cannot reach a foreign process.
type group struct {
	cmd    *exec.Cmd
	id     int
	start  uint64 // of the leader; no member is older
	needle string // empty without a Containment: processes that leave the group are not followed
	// killing is set by the first kill. From then on, members that are found outside the process group are killed at once.
	// Only the supervising goroutine uses it.
	killing bool
}

func newGroup(cmd *exec.Cmd, in *enclosure) (*group, error) {
	g := &group{cmd: cmd, id: cmd.Process.Pid}
	if self, err := identify(g.id); err == nil {
		g.start = self.Start
	}
	if in != nil {
		g.needle = serverNeedle(in.marker)
	}
	return g, nil
}

// await returns when the child has exited, and leaves it as a zombie.
func (g *group) await() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, g.id, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return // ECHILD cannot happen: nobody else reaps the child
		}
	}
}

// reap kills what empty may have missed (a member that forked while /proc was read) before the number can be reused,
// and then collects the child's status.
func (g *group) reap() (*os.ProcessState, error) {
	g.kill()
	return g.cmd.Process.Wait()
}

// empty reports whether no living process but the child itself belongs to the group.
func (g *group) empty() bool {
	n, err := g.members()
	return err == nil && n == 0
}

// survivors returns an error that says how many processes could not be ended, or nil if that is unknown.
func (g *group) survivors() error {
	if n, err := g.members(); err == nil && n > 0 {
		return fmt.Errorf("%d processes of group %d did not end after they were killed", n, g.id)
	}
	return nil
}

// members counts the living members in /proc, without the child itself. kill(-id, 0) is not sufficient: it also finds
// zombies, such as the child before it is reaped, and those that a container without an init never reaps. If /proc
// cannot be read, the error makes Process.sweep go through all its stages.
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
		n = 1 // a process is in the middle of exec, so the group may not be empty
	}
	return n, nil
}

// strays returns the living processes that left the group and carry the server's marker. It calls member for each
// process that is in the group, except the leader. settled is that of marked.
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

// signalStrays signals the members outside the process group, which signal does not reach.
func (g *group) signalStrays(signals ...unix.Signal) {
	if slices.Contains(signals, unix.SIGKILL) {
		g.killing = true
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

// The kernel sends a parent-death signal when the *thread* that forked ends, not when its process does (prctl(2),
// PR_SET_PDEATHSIG; golang/go#27505). Go may end a thread at any time, for instance when a goroutine ends while it is
// locked to that thread. So every start goes through one goroutine that is locked to its thread and never ends. The
// goroutine belongs to the package: it starts with the first process and runs as long as the hub, since its end would
// kill the servers.
var starter struct {
	once sync.Once
	jobs chan func()
}

// The channel is not made together with the first process, which may be started inside the synctest bubble of a test:
// the channel would then belong to that bubble.
func init() { starter.jobs = make(chan func()) }

// startProcess calls cmd.Start on the thread that never ends.
func startProcess(cmd *exec.Cmd) error {
	starter.once.Do(func() {
		go func() {
			runtime.LockOSThread()
			for job := range starter.jobs {
				job()
			}
		}()
	})
	closeOnExec()
	started := make(chan error, 1)
	starter.jobs <- func() { started <- cmd.Start() }
	return <-started
}

// dieWithHub makes the kernel kill the direct child when the hub dies, also when
// that happens between fork and exec. The child's own children do not inherit it,
// and it is lost when a setuid program is executed.
func dieWithHub(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// lookUp reads /proc/N/stat. living is false for a zombie.
func lookUp(pid int) (start uint64, living bool, err error) {
	raw, err := os.ReadFile(procPath(pid, "stat"))
	if errors.Is(err, fs.ErrNotExist) || vanished(err) {
		if _, e := os.Stat("/proc/self/stat"); e != nil {
			return 0, false, e // no /proc at all, so nothing is known about any process
		}
		return 0, false, errNoProcess
	}
	if err != nil {
		return 0, false, err
	}
	s, ok := parseStat(raw)
	if !ok {
		return 0, false, fs.ErrInvalid
	}
	return s.start, s.living(), nil
}

// bootID returns a text that differs between two boots of the system, and between two PID namespaces of one boot:
// containers that share a home directory see each other's ledgers. Its first word identifies the boot.
func bootID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

func hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// closeOnExec is one system call since Linux 5.11.
func closeOnExec() {
	if unix.CloseRange(firstInherited, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		closeEachOnExec()
	}
}
