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
	// maxHandshake bounds the handshake line, which has two paths and a certificate.
	maxHandshake = 16 << 10
	// afterlife is how long output is still read after the process has ended. Another process may have the pipes open for
	// ever.
	afterlife = 500 * time.Millisecond
)

var errKilledEarly = errors.New("killed before it was started")

// process is the hub's process. It is the runner of go-plugin, so that go-plugin sees only the handshake line and the
// end of the process.
type process struct {
	cmd       *exec.Cmd
	socketDir string // set by go-plugin before Start
	logs      *logReader

	shakeOut *io.PipeReader // what go-plugin reads as standard output: the first line, and then the end
	shakeIn  *io.PipeWriter

	ended chan struct{} // closed by reap: the process has ended
	read  chan struct{} // closed by reap: its output was read, too

	mu       sync.Mutex
	settled  bool   // guarded by mu; Start was called, or will never be called
	started  bool   // guarded by mu
	killed   bool   // guarded by mu; kill was called
	alone    bool   // guarded by mu; it ended before kill was called
	startErr error  // guarded by mu; why the process does not exist
	ours     bool   // guarded by mu; startErr came before an attempt to start the command
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
	p.cmd.Stdin = nil // the null device: the hub must not read the host's own input
	p.shakeOut, p.shakeIn = io.Pipe()
	return p
}

// Start spawns the process, and starts the goroutines that watch it.
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

// abandon makes sure that the process counts as ended if Start was never called, because of err, and will not be
// called.
func (p *process) abandon(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.settled {
		p.settled, p.ours = true, true
		p.neverStarted(err)
	}
}

// neverStarted marks the process as ended. It is called with mu held.
func (p *process) neverStarted(err error) {
	p.startErr = err
	close(p.ended)
	close(p.read)
}

// spawn starts the process. It is called with mu held, so that a kill either prevents the start or finds the process.
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
	// Files instead of writers: so Wait waits for the process only, and not for other processes that hold its pipes.
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
	_ = p.cmd.Wait() // the result is in cmd.ProcessState
	// On Windows an exit cannot be told from a kill.
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

// readStdout passes the first line on to go-plugin and discards the rest. go-plugin's own reader would stop at a long
// line, and a full pipe would block the hub.
func (p *process) readStdout(stdout io.Reader) {
	r := bufio.NewReaderSize(stdout, maxHandshake)
	line, _ := r.ReadSlice('\n')
	p.mu.Lock()
	p.first = strings.TrimSpace(string(line))
	// If the output ended before kill was called, the process has ended by itself. go-plugin also kills a process that has
	// ended.
	p.alone = p.alone || len(line) == 0 && !p.killed
	p.mu.Unlock()
	if len(line) > 0 {
		_, _ = p.shakeIn.Write(append(line, '\n')) // even a line that was cut: go-plugin then refuses it at once
	}
	_, _ = io.Copy(io.Discard, r)
	_ = p.shakeIn.Close()
}

// kill ends the process at once, even if it is stopped or not yet started.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.started {
		_ = p.cmd.Process.Kill() // an error means that it has ended already
	}
}

// Kill, Wait, Stdout, Stderr, Name, ID and Diagnose are called by go-plugin.

// Kill ends the process.
func (p *process) Kill(context.Context) error { p.kill(); return nil }

// Wait waits for the end of the process and of its output.
func (p *process) Wait(context.Context) error { <-p.read; return nil }

// Stdout returns a reader of the handshake line, which then blocks until the process has ended.
func (p *process) Stdout() io.ReadCloser { return p.shakeOut }

// Stderr returns an empty reader, since logReader reads the log lines.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name returns the command.
func (p *process) Name() string { return p.cmd.Path }

// ID returns an id that is never empty: with an empty id go-plugin would skip its clean-up.
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		return "none"
	}
	return strconv.Itoa(p.cmd.Process.Pid)
}

// Diagnose returns nothing to add to go-plugin's errors.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost returns the address unchanged, since hub and host share one file system.
func (p *process) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

// HostToPlugin returns the address unchanged.
func (p *process) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
