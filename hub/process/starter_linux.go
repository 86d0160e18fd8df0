package process

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

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
