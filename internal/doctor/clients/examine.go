package clients

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mcphub-go/mcphub/internal/doctor"
)

// Options of an examination.
type Options struct {
	// Name is what the report calls the client.
	Name string
	// Client returns the command of the client. nil: the user starts it.
	Client func(Ways) []string
	// Drive returns a command that makes the client use the tools, and ends when that is done. nil: a person does it.
	Drive func(Ways) []string
	// Server returns the command that serves one client, and tells what happens at a socket: it calls Serve.
	Server func(socket string) []string
	// Version is that of this program.
	Version string
	// Connect bounds the time until the client connects. Default 30 s; a client that the user starts has no limit.
	Connect time.Duration
	// In and Out are the standard streams of the client's program; its stdout and stderr are both Out.
	In  io.Reader
	Out io.Writer
	// Ready is called once, when the client may be used.
	Ready func(Ways)
	// Hide removes secrets from a text. nil means that there are none.
	Hide func(string) string
}

// Ways are those to reach the play.
type Ways struct {
	Server []string // a command
	URL    string
	Config string // a file
}

// ErrNotConnected is the error for a client that has not connected, or whose program has ended before.
var ErrNotConnected = errors.New("the client did not connect")

const (
	// closing is how long a connection may outlive the client's program.
	closing = 5 * time.Second
	// leaving is how long a program has to end after it was asked to.
	leaving = 10 * time.Second
	// driven is how long the client's program may run on after the drive, which may have ended it.
	driven = 2 * time.Second
)

// Examine plays the server of a client until the client's program or the drive has ended, or ctx: then the user has
// ended the play. The report says what was seen until then. An error means that the client could not be examined.
func Examine(ctx context.Context, o Options) (*doctor.Report, error) {
	x := &examination{o: o, journal: NewJournal(), began: time.Now()}
	err := x.run(ctx)
	return x.report(), err
}

type examination struct {
	o       Options
	journal *Journal
	began   time.Time
	ways    Ways

	conns   sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]*process // that have not ended
	changed chan struct{}         // closed and renewed when one ends
}

// process is one of our processes, which the client has started.
type process struct {
	record func(Event)
	ending bool // its client has begun to end it
	cut    bool // the doctor has
}

func (x *examination) run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "mcphub-doctor")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	socket := filepath.Join(folder, "s")
	told, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, told.Close())
	}
	x.ways = Ways{x.o.Server(socket), "http://" + at.Addr().String() + "/mcp", filepath.Join(folder, "mcp.json")}
	x.open, x.changed = map[net.Conn]*process{}, make(chan struct{})
	x.conns.Go(func() { x.accept(told) })
	stop := newWeb(x.journal, x.o.Version).serve(at)
	defer stop()
	defer x.conns.Wait()
	defer x.cut(func(*process) bool { return true })
	defer func() { _ = told.Close() }()
	if err := os.WriteFile(x.ways.Config, Config(x.ways.Server), 0o600); err != nil {
		return err
	}
	x.o.Ready(x.ways)
	return x.wait(ctx)
}

// Config returns a config file with the server.
func Config(server []string) []byte {
	text, _ := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{
		"mcphub-doctor": map[string]any{"command": server[0], "args": server[1:]}}}, "", "  ")
	return append(text, '\n')
}

// accept takes the journals of our processes.
func (x *examination) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		p := &process{record: x.journal.Connection()}
		x.mu.Lock()
		x.open[conn] = p
		x.mu.Unlock()
		x.conns.Go(func() { x.follow(conn, p) })
	}
}

// follow takes the journal of one process.
func (x *examination) follow(conn net.Conn, p *process) {
	left := false
	for lines := json.NewDecoder(conn); !left; {
		var e Event
		if lines.Decode(&e) != nil {
			break
		}
		p.record(e)
		left = e.Kind == Left
		if e.Kind == InputEnded || e.Kind == Signalled {
			x.mu.Lock()
			p.ending = true
			x.announce()
			x.mu.Unlock()
		}
	}
	_ = conn.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	if !left && !p.cut {
		p.record(Event{Kind: Lost})
	}
	delete(x.open, conn)
	x.announce()
}

func (x *examination) announce() { // called with mu held
	close(x.changed)
	x.changed = make(chan struct{})
}

// cut ends processes of ours.
func (x *examination) cut(which func(*process) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for conn, p := range x.open {
		if !p.cut && which(p) {
			if p.cut = true; !p.ending {
				p.record(Event{Kind: Cut})
			}
			_ = conn.Close()
		}
	}
}

// program is one that the doctor has started.
type program struct {
	done chan struct{} // closed at its end
	err  error         // set before
}

// start starts a program that is asked to end when ctx does, and killed later. nil: there is none.
func (x *examination) start(ctx context.Context, words func(Ways) []string) (*program, error) {
	p := &program{done: make(chan struct{})}
	if words == nil {
		return p, nil
	}
	line := words(x.ways)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Stdin, c.Stdout, c.Stderr = x.o.In, x.o.Out, x.o.Out
	c.Cancel = func() error {
		if c.Process.Signal(syscall.SIGTERM) == nil {
			return nil
		}
		return c.Process.Kill()
	}
	c.WaitDelay = leaving
	if err := c.Start(); err != nil {
		return nil, err
	}
	x.conns.Go(func() {
		defer close(p.done)
		p.err = c.Wait()
	})
	return p, nil
}

var errEnded = errors.New("the play is over")

// wait plays until the client's program has ended, the drive has, or ctx.
func (x *examination) wait(ctx context.Context) error {
	running, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(errEnded)
	client, err := x.start(running, x.o.Client)
	if err != nil {
		return err
	}
	driver, err := x.start(running, x.o.Drive)
	if err != nil {
		return err
	}
	err = x.play(ctx, client, driver)
	x.journal.add(Event{Kind: Over, Interrupted: ctx.Err() != nil})
	end(errEnded)
	if x.o.Client != nil {
		<-client.done
	}
	x.settle(ctx)
	return err
}

// play waits until the play is over.
func (x *examination) play(ctx context.Context, client, driver *program) error {
	if err := x.connected(ctx, client, driver); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-client.done: // how it ends is its own affair
		return nil
	case <-driver.done:
	}
	if driver.err != nil {
		return fmt.Errorf("--drive: %w", driver.err)
	}
	pause, cancel := context.WithTimeoutCause(ctx, driven, errEnded)
	defer cancel()
	select {
	case <-client.done:
	case <-pause.Done():
	}
	return nil
}

// connected waits for the first connection. A client that the user or a drive uses may take its time.
func (x *examination) connected(ctx context.Context, client, driver *program) error {
	var late <-chan time.Time
	if x.o.Client != nil && x.o.Drive == nil {
		late = time.After(x.o.Connect)
	}
	ended, used := client.done, driver.done
	for {
		next := x.journal.next()
		if slices.ContainsFunc(x.journal.Events(), func(e Event) bool { return e.Kind == Spoke }) {
			return nil
		}
		select {
		case <-next:
			continue
		case <-ctx.Done():
			return nil
		case <-late:
			return ErrNotConnected
		case <-ended:
		case <-used:
		}
		ended, used, late = nil, nil, time.After(time.Second) // what it has written may still be on its way
	}
}

// settle waits for our processes after the end of the client's program: those that it has not ended are cut.
func (x *examination) settle(ctx context.Context) {
	x.gone(ctx, closing, func(p *process) bool { return p.ending })
	x.cut(func(p *process) bool { return !p.ending })
	x.gone(ctx, linger+closing, func(*process) bool { return false })
}

// gone waits until all processes have ended but those that need not, at most for d.
func (x *examination) gone(ctx context.Context, d time.Duration, may func(*process) bool) {
	late := time.NewTimer(d)
	defer late.Stop()
	for {
		x.mu.Lock()
		next, left := x.changed, 0
		for _, p := range x.open {
			if !may(p) {
				left++
			}
		}
		x.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		case <-late.C:
			return
		}
	}
}

// report returns what was seen.
func (x *examination) report() *doctor.Report {
	hide := x.o.Hide
	if hide == nil {
		hide = func(text string) string { return text }
	}
	events := x.journal.Events()
	r := &doctor.Report{Client: hide(x.o.Name), Examined: x.began,
		Took: time.Since(x.began), Findings: Judge(events)}
	for i := range r.Findings {
		r.Findings[i].Seen = hide(r.Findings[i].Seen)
	}
	for _, e := range events {
		switch {
		case e.Kind == Spoke:
			r.Says = cmp.Or(r.Says, e.Client)
			if !slices.Contains(r.Revisions, e.Revision) {
				r.Revisions = append(r.Revisions, e.Revision)
			}
		case e.Kind == Requested && e.Tool != "" && !e.Retry:
			r.Calls++
		}
	}
	slices.Sort(r.Revisions)
	return r
}
