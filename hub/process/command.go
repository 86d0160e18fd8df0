package process

import (
	"os"
	"os/exec"
	"time"
)

// Command says what to run and how to end it.
type Command struct {
	// Path is the program: a name that is looked up in the PATH of Env, or a
	// path. A relative path is taken from Dir.
	Path string
	// Program is the absolute path of the file to execute, as returned by Find. If it is set, Path is not looked up and is
	// only the program's argv[0].
	Program string
	// Searched describes where Path was looked for. It is used in the error for a program that was not found; "" means the
	// PATH of the server's environment.
	Searched string
	// Alone closes the child's standard input. On Unix it also gives the child a session of its own, so that the child has
	// no terminal.
	Alone bool
	// Args are the arguments, without the program's name.
	Args []string
	// Env is the complete environment of the child; nothing is inherited on
	// top of it. See Environment.
	Env []string
	// Dir is the working directory; empty means the hub's own.
	Dir string
	// Grace is how long each stage of Stop waits.
	Grace Grace
	// StderrBytes is the capacity of the ring that Process.Stderr returns.
	// 0 means 64 KiB.
	StderrBytes int
	// OnStderr is called with each line of stderr, in order, from one
	// goroutine, before Done is closed. A line is cut at 8 KiB. It must
	// neither block nor call Stop or Kill. It may be nil.
	OnStderr func(line string)
	// Containment keeps the process from outliving the hub. The package comment says what still does so if Containment is
	// nil.
	Containment *Containment
}

// Grace is how long each stage of Stop waits for the processes to exit. Zero means the default, and a negative value
// means no wait. The sum bounds the duration of Stop.
type Grace struct {
	Stdin     time.Duration // after closing stdin; default 2 s
	Terminate time.Duration // after SIGTERM to the group; default 2 s
	Kill      time.Duration // after SIGKILL to the group; default 1 s
}

func (g Grace) withDefaults() Grace {
	pick := func(d, def time.Duration) time.Duration {
		switch {
		case d == 0:
			return def
		case d < 0:
			return 0
		}
		return d
	}
	return Grace{
		Stdin:     pick(g.Stdin, 2*time.Second),
		Terminate: pick(g.Terminate, 2*time.Second),
		Kill:      pick(g.Kill, time.Second),
	}
}

const (
	defaultStderrBytes = 64 << 10
	maxStderrLine      = 8 << 10
)

// Start runs the command. Its error is a *StartError, which names the setting to change; in that case no process is
// left behind.
//
// The caller owns the process: it reads Stdout until io.EOF and calls Stop, even if the child has exited on its own
// (Stop then returns at once).
func Start(c Command) (*Process, error) {
	if c.Containment != nil {
		return c.Containment.Start(c)
	}
	return launch(c, nil)
}

// launch runs the command, within in unless that is nil.
func launch(c Command, in *enclosure) (*Process, error) {
	path, err := resolve(c)
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, &StartError{Command: c.Path, Message: "no pipe could be opened: " + err.Error(), Err: err}
	}
	cmd, err := spawn(c, path, pipes, in)
	if err != nil {
		pipes.closeAll()
		return nil, explainStart(c, path, err)
	}
	pipes.closeChild()
	if c.Alone {
		closeFiles(pipes.in)
	}
	g, err := newGroup(cmd, in)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		pipes.closeAll()
		return nil, &StartError{Command: c.Path, Message: "the process could not be contained: " + err.Error(), Err: err}
	}
	return newProcess(c, cmd, g, pipes, in), nil
}

func spawn(c Command, path string, pipes pipes, in *enclosure) (*exec.Cmd, error) {
	env := append([]string{}, c.Env...) // never nil: nil would mean the hub's own environment
	if in != nil {
		env = withMarker(env, in.marker)
	}
	cmd := &exec.Cmd{
		Path:   path,
		Args:   append([]string{c.Path}, c.Args...),
		Env:    env,
		Dir:    c.Dir,
		Stdin:  pipes.childIn,
		Stdout: pipes.childOut,
		Stderr: pipes.childErr,
	}
	contain(cmd, c.Alone)
	return cmd, startProcess(cmd)
}

// pipes are the six ends of the child's three streams. They are pipes of our
// own, not those of os/exec: the hub's ends are in the runtime's poller, so
// Close wakes a blocked Write, and a read deadline wakes a blocked Read.
type pipes struct {
	childIn, in   *os.File
	out, childOut *os.File
	err, childErr *os.File
}

func openPipes() (p pipes, err error) {
	if p.childIn, p.in, err = os.Pipe(); err == nil {
		if p.out, p.childOut, err = os.Pipe(); err == nil {
			p.err, p.childErr, err = os.Pipe()
		}
	}
	if err != nil {
		p.closeAll()
	}
	return p, err
}

func (p pipes) closeChild() { closeFiles(p.childIn, p.childOut, p.childErr) }

func (p pipes) closeAll() {
	p.closeChild()
	closeFiles(p.in, p.out, p.err)
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
