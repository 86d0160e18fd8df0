package host

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

const (
	// maxHandshake bounds the handshake line: two paths, a certificate, and then some.
	maxHandshake = 16 << 10
	// afterlife is how long output is read on after the process has ended. Somebody else may have the pipes open for ever.
	afterlife = 500 * time.Millisecond
)

var errKilledEarly = errors.New("killed before it was started")

// process is the hub's process. It is go-plugin's runner, so that go-plugin sees of it what it needs: the handshake
// line, and the end.
type process struct {
	cmd       *exec.Cmd
	socketDir string // set by go-plugin before Start
	logs      *logReader

	shakeOut *io.PipeReader // what go-plugin reads as standard output: the first line, and the end
	shakeIn  *io.PipeWriter

	ended chan struct{} // closed by reap: the process has ended
	read  chan struct{} // closed by reap: and its output has been read

	mu       sync.Mutex
	settled  bool   // guarded by mu; Start was called, or will never be
	started  bool   // guarded by mu
	killed   bool   // guarded by mu; by us
	alone    bool   // guarded by mu; it ended before we killed it
	startErr error  // guarded by mu; why the process does not exist
	ours     bool   // guarded by mu; startErr came before the command was even tried
	first    string // guarded by mu; first line on standard output
}

var _ runner.Runner = (*process)(nil)

func newProcess(o Options) *process {
	p := &process{
		cmd:   exec.Command(o.Command, o.Args...),
		logs:  newLogReader(o.Logger, o.Stderr),
		ended: make(chan struct{}),
		read:  make(chan struct{}),
	}
	p.cmd.Dir = o.Dir
	p.cmd.Stdin = nil // the null device: the host's own input is not the hub's to read
	p.shakeOut, p.shakeIn = io.Pipe()
	return p
}

// Start spawns the process and everything that watches it.
func (p *process) Start(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.spawn()
	p.settled = true
	if err != nil {
		p.neverStarted(err)
	}
	return err
}

// abandon says that Start will not be called any more, because of err.
func (p *process) abandon(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.settled {
		p.settled, p.ours = true, true
		p.neverStarted(err)
	}
}

// neverStarted is called with mu held.
func (p *process) neverStarted(err error) {
	p.startErr = err
	close(p.ended)
	close(p.read)
}

// spawn is called with mu held, so that a kill comes either before it or finds the process.
func (p *process) spawn() error {
	if p.killed {
		return errKilledEarly
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	// Files rather than writers: Wait then waits for the process alone, and not for whoever else holds its pipes.
	p.cmd.Stdout, p.cmd.Stderr = outW, errW
	err = p.cmd.Start()
	_, _ = outW.Close(), errW.Close()
	if err != nil {
		_, _ = outR.Close(), errR.Close()
		return err
	}
	p.started = true
	var readers sync.WaitGroup
	readers.Go(func() { p.readStdout(outR) })
	readers.Go(func() { p.logs.run(errR) })
	go p.reap(outR, errR, &readers)
	return nil
}

// reap waits for the end of the process and of its output.
func (p *process) reap(stdout, stderr *os.File, readers *sync.WaitGroup) {
	_ = p.cmd.Wait() // the state is in cmd.ProcessState
	// Windows knows no difference between an exit and a kill.
	if runtime.GOOS != "windows" && p.cmd.ProcessState.Exited() {
		p.mu.Lock()
		p.alone = true
		p.mu.Unlock()
	}
	close(p.ended)
	deadline := time.Now().Add(afterlife)
	_, _ = stdout.SetReadDeadline(deadline), stderr.SetReadDeadline(deadline)
	readers.Wait()
	_, _ = stdout.Close(), stderr.Close()
	close(p.read)
}

// readStdout passes the first line on to go-plugin and throws away the rest: go-plugin's own reader would stop at a
// long line, and a full pipe would freeze the hub.
func (p *process) readStdout(stdout io.Reader) {
	r := bufio.NewReaderSize(stdout, maxHandshake)
	line, _ := r.ReadSlice('\n')
	p.mu.Lock()
	p.first = strings.TrimSpace(string(line))
	// The end of its output before we killed it means that it ended by itself. go-plugin kills what ended, to be sure.
	p.alone = p.alone || len(line) == 0 && !p.killed
	p.mu.Unlock()
	if len(line) > 0 {
		_, _ = p.shakeIn.Write(append(line, '\n')) // also to a line that was cut: it is refused at once then
	}
	_, _ = io.Copy(io.Discard, r)
	_ = p.shakeIn.Close()
}

// kill ends the process at once; also one that is stopped, or not yet started.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.started {
		_ = p.cmd.Process.Kill() // an error says that it has ended already
	}
}

// Kill, Wait, Stdout, Stderr, Name, ID and Diagnose are for go-plugin.

// Kill ends the process.
func (p *process) Kill(context.Context) error { p.kill(); return nil }

// Wait waits for the end of the process and of its output.
func (p *process) Wait(context.Context) error { <-p.read; return nil }

// Stdout gives the handshake line, and then nothing until the process ends.
func (p *process) Stdout() io.ReadCloser { return p.shakeOut }

// Stderr gives nothing: log lines are read here.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name is the command.
func (p *process) Name() string { return p.cmd.Path }

// ID is never empty: go-plugin would skip its clean-up.
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		return "none"
	}
	return strconv.Itoa(p.cmd.Process.Pid)
}

// Diagnose adds nothing to go-plugin's errors.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost changes nothing: hub and host share one file system.
func (p *process) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

// HostToPlugin changes nothing.
func (p *process) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
