package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Process is a child and its process group. Its methods may be called from any
// goroutine, with the exception that Stdin has one writer at a time, and Stdout
// one reader.
type Process struct {
	cmd    *exec.Cmd
	group  *group
	grace  Grace
	stdin  *os.File
	stdout *pipeReader
	stderr *stderrLog
	in     *enclosure // nil without a Containment

	left       chan struct{} // closed when the direct child has exited
	stopping   chan struct{} // closed by request or outgrown, if the child had not exited before
	hurry      chan struct{} // closed by Kill, hasten or outgrown: skip the first two stages
	hurryOnce  sync.Once
	stderrDone chan struct{} // closed by the goroutine that reads stderr
	done       chan struct{} // closed by supervise

	mu sync.Mutex
	st state // guarded by mu; changed by advance alone
}

// phase is the stage of a process's life: running, then stopping or sweeping, then over.
type phase int

const (
	running  phase = iota
	stopping       // the end was requested before the child had exited
	sweeping       // the child exited on its own
	over
)

type state struct {
	phase phase
	why   string
	exit  Exit
}

// advance is the one transition function. It moves p to a later phase and applies set; it returns false, and does
// nothing, if p has passed that phase already. So if a Stop and an exit coincide, one wins and the other sees it.
func (p *Process) advance(to phase, set func(*state)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.st.phase == over || p.st.phase != running && to != over {
		return false
	}
	p.st.phase = to
	set(&p.st)
	return true
}

func newProcess(c Command, cmd *exec.Cmd, g *group, pp pipes, in *enclosure) *Process {
	p := &Process{
		cmd:        cmd,
		group:      g,
		in:         in,
		grace:      c.Grace.withDefaults(),
		stdin:      pp.in,
		stdout:     newPipeReader(pp.out),
		stderr:     newStderrLog(newPipeReader(pp.err), c.StderrBytes, c.OnStderr),
		left:       make(chan struct{}),
		stopping:   make(chan struct{}),
		hurry:      make(chan struct{}),
		stderrDone: make(chan struct{}),
		done:       make(chan struct{}),
		st:         state{exit: Exit{Code: -1}},
	}
	go func() { // ends when the child exits; supervise waits for it
		defer close(p.left)
		p.group.await()
	}()
	go func() { // ends with stderr, at the latest after the sweep; supervise waits for it
		defer close(p.stderrDone)
		p.stderr.read()
	}()
	if in != nil {
		in.begun(p)
	}
	// supervise closes done, for which every caller of Stop waits. Containment.Close also waits for its last step.
	go p.supervise()
	return p
}

// Stdin is the pipe to the child. A Write blocks while the pipe is full; the
// end of the process, or Stop, wakes it with an error.
func (p *Process) Stdin() io.Writer { return p.stdin }

// Stdout is the pipe from the child. It ends with io.EOF at the latest when the
// process group is gone, after everything that the group wrote. The file behind
// it is closed with that io.EOF, so a reader should read to the end.
func (p *Process) Stdout() io.Reader { return p.stdout }

// PID is the process id of the direct child, on Unix also of its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr returns the last lines of stderr, newest last.
func (p *Process) Stderr() []string { return p.stderr.lines() }

// Done is closed when the direct child has been reaped, its group is gone and
// stderr has been read to its end.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the process ended, once Done is closed.
func (p *Process) Exit() Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.st.exit
}

// Stop ends the process in the stages that the MCP specification gives for stdio (2026-07-28 and earlier, lifecycle,
// "Shutdown"): it closes stdin; processes that are left after Grace.Stdin get SIGTERM; processes that are left after
// Grace.Terminate get SIGKILL. Stop returns when Done is closed, at the latest after the sum of the graces. Concurrent
// and later calls share the one stop, which keeps the first reason.
func (p *Process) Stop(why string) Exit {
	p.request(why)
	<-p.done
	return p.Exit()
}

// Kill is Stop without the first two stages. It also cuts short a Stop that is
// under way, for a shutdown whose time is up.
func (p *Process) Kill(why string) Exit {
	p.hasten(why)
	<-p.done
	return p.Exit()
}

// hasten is Kill without waiting.
func (p *Process) hasten(why string) {
	p.hurryOnce.Do(func() { close(p.hurry) })
	p.request(why)
}

func (p *Process) request(why string) {
	if p.advance(stopping, func(s *state) { s.why = bounds.Printable(why) }) {
		close(p.stopping)
	}
}

// supervise is the goroutine that waits until the child exits or its end is requested, and then ends the group.
func (p *Process) supervise() {
	if p.in != nil {
		defer p.in.over(p) // after done is closed: it may write a file
	}
	defer close(p.done)
	select {
	case <-p.left:
	case <-p.stopping:
	}
	e := Exit{Code: -1, Stage: StageStdin}
	if isClosed(p.left) && p.advance(sweeping, func(*state) {}) {
		e.Stage = StageExited
	}
	// Closing wakes a writer that is blocked on a child that does not read.
	_ = p.stdin.Close()
	if e.Stage == StageStdin {
		wait(p.left, p.hurry, p.grace.Stdin)
	}
	p.sweep(&e)

	p.stdout.end()
	p.stderr.end()
	wait(p.stderrDone, nil, p.grace.Kill) // at once, unless OnStderr breaks its rule and blocks
	if p.in != nil && e.Err == nil && isClosed(p.left) {
		p.in.emptied(p) // before the number of the group can be reused, if the system allows it
	}
	p.reap(&e)
	p.advance(over, func(s *state) {
		e.Why = s.why
		s.exit = e
	})
}

// sweep ends whatever is left of the group.
func (p *Process) sweep(e *Exit) {
	e.Group = e.Stage
	up := !isClosed(p.left) // checked once, before any signal: the child may exit at any moment
	if !up && p.group.empty() {
		return
	}
	// If the system has no polite signal, a child that did not exit when its stdin was closed is killed at once. Processes
	// that a child left behind still get Grace.Terminate: they may be exiting, too, or may still be counted although they
	// have exited.
	if !isClosed(p.hurry) {
		if p.group.terminate() {
			e.Group = StageTerminated
		} else if up {
			e.Group = StageKilled
		}
		if e.Group != StageKilled {
			empty := p.emptyWithin(p.grace.Terminate, p.hurry)
			if up && isClosed(p.left) {
				e.Stage, up = StageTerminated, false
			}
			if empty {
				return
			}
		}
	}
	if up {
		e.Stage = StageKilled
	}
	e.Group = StageKilled
	p.group.kill()
	if !p.emptyWithin(p.grace.Kill, nil) {
		e.Err = p.group.survivors()
	}
}

// reap collects the child's status.
func (p *Process) reap(e *Exit) {
	if !isClosed(p.left) {
		e.Err = fmt.Errorf("process %d did not end after it was killed", p.PID())
		go func() { // the kernel does not end the process, so nobody waits for it
			<-p.left
			_, _ = p.group.reap()
		}()
		return
	}
	ps, err := p.group.reap()
	if err != nil {
		e.Err = errors.Join(e.Err, err)
	}
	if ps != nil {
		e.Code = ps.ExitCode()
		if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			e.Signal = signalName(ws.Signal())
		}
	}
}

// emptyWithin reports whether the group was gone before the grace ended or hurry was closed. There is no event for the
// end of a process that is not a child of the hub, so the group is polled, at growing intervals.
func (p *Process) emptyWithin(grace time.Duration, hurry <-chan struct{}) bool {
	end := time.NewTimer(grace)
	defer end.Stop()
	select {
	case <-p.left:
	case <-hurry:
		return false
	case <-end.C:
		return isClosed(p.left) && p.group.empty()
	}
	for pause := 2 * time.Millisecond; !p.group.empty(); pause = min(2*pause, 50*time.Millisecond) {
		next := time.NewTimer(pause)
		select {
		case <-next.C:
		case <-hurry:
			next.Stop()
			return false
		case <-end.C:
			next.Stop()
			return p.group.empty()
		}
	}
	return true
}

// wait waits until ch or hurry, which may be nil, is closed, but at most for d.
func wait(ch, hurry <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ch:
	case <-hurry:
	case <-t.C:
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Stage is the step at which a process ended.
type Stage string

const (
	StageExited     Stage = "exited"     // on its own, before anything was done to it
	StageStdin      Stage = "stdin"      // after its stdin was closed
	StageTerminated Stage = "terminated" // after SIGTERM to the group
	StageKilled     Stage = "killed"     // after SIGKILL to the group, or the job was ended
)

// Exit is how a process ended.
type Exit struct {
	// Code is the exit status of the direct child. It is -1 if a signal ended the child, and while the child runs.
	Code int
	// Signal is the name of the signal that ended the direct child, such as "SIGKILL"; empty if the child exited.
	Signal string
	// Stage is the step at which the direct child ended; empty while the child runs.
	Stage Stage
	// Group is the step at which the last process of the group ended. It differs from Stage if a process outlived the
	// direct child.
	Group Stage
	// Why is the reason given to the first Stop or Kill, at most 256 runes with
	// control characters escaped; empty when the child exited on its own.
	Why string
	// Err is set if a process could not be ended or the status of the child could not be read. It is nil for every
	// ordinary end, whatever the exit code.
	Err error
}

// String describes the end in one line, for messages to people.
func (e Exit) String() string {
	var b strings.Builder
	switch {
	case e.Stage == "":
		b.WriteString("running")
	case e.Signal != "":
		b.WriteString("ended by " + e.Signal)
	default:
		fmt.Fprintf(&b, "exited with code %d", e.Code)
	}
	switch e.Stage {
	case StageStdin:
		b.WriteString(" after its stdin was closed")
	case StageTerminated:
		b.WriteString(" after it was told to terminate")
	case StageKilled:
		b.WriteString(" after it was killed")
	}
	if e.Why != "" {
		b.WriteString(" (" + e.Why + ")")
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Hide protects the memory and the environment of this process from other processes of the same user, as far as the
// system can do that. Without it, a server could read the environment that the hub has from the editor, tokens
// included, in /proc/PPID/environ.
//
// On Linux, Hide makes the process not dumpable (prctl(2), PR_SET_DUMPABLE). Its /proc/PID/environ, mem, maps, fd and
// root then belong to root, and only a process with CAP_SYS_PTRACE can attach to it. The process itself loses access to
// nothing but /proc/self/environ, which the hub does not read. /proc/PID/stat, by which hubs identify each other and
// their servers, stays readable for everybody. Servers become dumpable again by their exec, so that the markers in
// their environments are found (see Containment). So does the guard, which holds no secret.
//
// The price is that no core is dumped and that no debugger of the same user can attach. Setting the variable
// plugin/handshake.EnvDumpable to 1 avoids that. On other systems Hide does nothing and returns nil.
//
// Hide is no sandbox. Servers are programs of the user, and can read what the user's other processes expose: the
// environment of the editor itself, and the files in the home directory.
func Hide() error { return hide() }

// InheritNothing makes sure that the programs that this process starts inherit none of its descriptors but 0, 1 and 2.
// It sets the close-on-exec flag of all others, and changes nothing else about them. Go sets that flag on every file
// that it opens. InheritNothing is for the descriptors that this process itself has inherited: sockets, files and pipes
// of an editor that its parent did not close.
//
// A process that serves a hub calls InheritNothing before anything else. The same is done again before each start of a
// server, since a library that is not written in Go may open a file without the flag at any time. On Windows
// InheritNothing does nothing: there, Go names the three handles that a child inherits.
func InheritNothing() { closeOnExec() }
