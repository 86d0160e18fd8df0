package process

import (
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// ContainmentOptions are the options of a Containment. The zero value is valid and means neither guard nor ledger.
type ContainmentOptions struct {
	// GuardCommand is the command line of a process that calls RunGuard with its stdin: the absolute path of the program,
	// then the arguments. Empty means no guard. It is ignored on Windows, where a job object does the work of the guard.
	GuardCommand []string
	// LedgerDir is the hub's state directory. The ledger is in its folder "processes". Empty means no ledger.
	LedgerDir string
	// Logger receives what could not be set up; nil discards it.
	Logger *slog.Logger
}

// Containment holds the server processes of one hub, so that none of them outlives the hub, whether the hub exits in
// order or dies by SIGKILL. The package comment says what each of its mechanisms covers. The methods may be called from
// any goroutine.
type Containment struct {
	marker string
	guard  *guardLink
	ledger *Ledger

	mu      sync.Mutex
	running map[*Process]struct{} // guarded by mu
	number  int                   // guarded by mu: the number of the last server
	closed  bool                  // guarded by mu
	starts  sync.WaitGroup        // counts starts until enclosure.over; Add with mu held
}

// NewContainment returns a new Containment, and ends the processes that dead hubs have left behind according to the
// ledger (see Ledger.Sweep). The guard starts with the first server.
func NewContainment(o ContainmentOptions) *Containment {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Containment{
		marker:  newMarker(),
		ledger:  OpenLedger(o.LedgerDir, log),
		running: make(map[*Process]struct{}),
	}
	c.guard = newGuardLink(o.GuardCommand, c.marker, log)
	c.ledger.Sweep()
	return c
}

var errContainmentClosed = errors.New("the hub is shutting down")

// Start is like the function Start, but the process is held by the containment.
func (c *Containment) Start(cmd Command) (*Process, error) {
	if _, err := resolve(cmd); err != nil { // what cannot run needs no guard
		return nil, err
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, &StartError{Command: cmd.Path, Message: errContainmentClosed.Error(), Err: errContainmentClosed}
	}
	c.starts.Add(1)
	c.number++
	in := &enclosure{owner: c, marker: serverMarker(c.marker, c.number), name: programName(cmd.Path)}
	c.mu.Unlock()

	c.guard.ensure()
	c.ledger.begin(c.marker)
	p, err := launch(cmd, in)
	if err != nil {
		c.starts.Done()
		return nil, err
	}
	return p, nil
}

// Close kills the processes that still run, without asking them to end, and ends the guard. It takes at most the
// Grace.Kill of these processes and two seconds more. The hub calls Process.Stop for each of its servers before.
func (c *Containment) Close() {
	c.mu.Lock()
	c.closed = true
	left := slices.Collect(maps.Keys(c.running))
	c.mu.Unlock()
	for _, p := range left {
		p.hasten(shutdown)
	}
	c.starts.Wait()
	c.guard.close()
	c.ledger.close()
}

const shutdown = "the hub is shutting down"

// enclosure links one process to its Containment. The Process calls begun, emptied and over, each at most once and in
// this order.
type enclosure struct {
	owner  *Containment
	marker string
	name   string
	record groupRecord // set by begun
}

// begun registers p with the guard and the ledger. It is called before p is supervised, so before p can be stopped or
// reaped.
func (in *enclosure) begun(p *Process) {
	c := in.owner
	self, err := identify(p.PID())
	if err != nil {
		self = ident{PID: p.PID()} // the guard then identifies it by the number alone
	}
	in.record = groupRecord{ident: self, Name: in.name}
	c.guard.started(in.record)
	c.ledger.started(in.record)
	c.mu.Lock()
	c.running[p] = struct{}{}
	closed := c.closed
	c.mu.Unlock()
	if closed {
		p.hasten(shutdown)
	}
}

// emptied is called when the group is gone and, where the system allows it, before its number can be reused. It is not
// called for a process that could not be ended. It does not block.
func (in *enclosure) emptied(*Process) { in.owner.guard.ended(in.record) }

// over is the last step. It is called after Done is closed.
func (in *enclosure) over(p *Process) {
	c := in.owner
	if p.Exit().Err == nil {
		c.ledger.ended(in.record)
	}
	c.mu.Lock()
	delete(c.running, p)
	c.mu.Unlock()
	c.starts.Done()
}

// programName returns what the ledger may contain of a command: the base name of its program, cut at 64 characters.
func programName(path string) string {
	name := []rune(bounds.Printable(filepath.Base(path)))
	return string(name[:min(len(name), 64)])
}
