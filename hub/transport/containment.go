package transport

import (
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// ContainmentOptions are the options of a Containment. The zero value is sound; it
// has neither guard nor ledger.
type ContainmentOptions struct {
	// GuardCommand is the program, as an absolute path, and the arguments of a
	// process that calls RunGuard with its stdin. Empty means no guard. There is
	// none on Windows in any case, where a job object does its work.
	GuardCommand []string
	// LedgerDir is the hub's state directory; the ledger is in its folder
	// "processes". Empty means no ledger.
	LedgerDir string
	// Logger is told what could not be set up; nil discards it.
	Logger *slog.Logger
}

// Containment holds the server processes of one hub, so that none outlives it: not
// its orderly end, and not its death by SIGKILL. The package comment says what
// each of its means covers. Its methods may be called from any goroutine.
type Containment struct {
	marker  string
	guard   *guardLink
	ledger  *Ledger
	cgroups *cgroupTree
	memory  *memoryWatch

	mu      sync.Mutex
	running map[*Process]struct{} // guarded by mu
	number  int                   // guarded by mu: of the last server
	closed  bool                  // guarded by mu
	starts  sync.WaitGroup        // each start until the last step of its process; Add under mu
}

// NewContainment makes a containment and ends what dead hubs have left, according
// to the ledger (see Ledger.Sweep). The guard starts with the first server.
func NewContainment(o ContainmentOptions) *Containment {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Containment{
		marker:  newMarker(),
		ledger:  OpenLedger(o.LedgerDir, log),
		cgroups: findCgroupTree(),
		memory:  newMemoryWatch(),
		running: make(map[*Process]struct{}),
	}
	c.guard = newGuardLink(o.GuardCommand, c.marker, log)
	c.ledger.Sweep()
	return c
}

var errContainmentClosed = errors.New("the hub is shutting down")

// Start is as the function Start, within the containment.
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
	in := &enclosure{owner: c, marker: serverMarker(c.marker, c.number), memoryLimit: cmd.MemoryLimit,
		name: programName(cmd.Path)}
	c.mu.Unlock()

	c.guard.ensure()
	c.ledger.begin(c.marker)
	in.cgroup = c.cgroups.make(in.marker)
	p, err := launch(cmd, in)
	if err != nil {
		in.cgroup.remove()
		c.starts.Done()
		return nil, err
	}
	return p, nil
}

// Close kills what still runs and ends the guard. It takes as long as Grace.Kill
// of what runs, and at most two seconds more. The hub stops its servers before,
// and politely; here nobody is asked.
func (c *Containment) Close() {
	c.mu.Lock()
	c.closed = true
	left := make([]*Process, 0, len(c.running))
	for p := range c.running {
		left = append(left, p)
	}
	c.mu.Unlock()
	for _, p := range left {
		p.hasten(shutdown)
	}
	c.starts.Wait()
	c.memory.close()
	c.guard.close()
	c.ledger.close()
}

const shutdown = "the hub is shutting down"

// enclosure is what a Containment has to do with one process. A Process calls
// begun, emptied and over, once each and in this order.
type enclosure struct {
	owner       *Containment
	marker      string
	memoryLimit int64
	name        string
	cgroup      *cgroup
	record      groupRecord // set by begun
}

// begun is called before anything else can happen to the process.
func (in *enclosure) begun(p *Process) {
	c := in.owner
	self, err := identify(p.PID())
	if err != nil {
		self = ident{PID: p.PID()} // the guard goes by the number alone then
	}
	in.record = groupRecord{ident: self, Name: in.name, Cgroup: in.cgroup.path()}
	c.guard.started(in.record)
	c.ledger.started(in.record)
	c.mu.Lock()
	c.running[p] = struct{}{}
	closed := c.closed
	c.mu.Unlock()
	if closed {
		p.hasten(shutdown)
	}
	if in.memoryLimit > 0 {
		c.memory.add(p, in.memoryLimit)
	}
}

// emptied is called when the group is gone and its number still its own. It does
// not wait. It is not called for what could not be ended.
func (in *enclosure) emptied(*Process) { in.owner.guard.ended(in.record) }

// over is the last step, after Done was closed.
func (in *enclosure) over(p *Process) {
	c := in.owner
	c.memory.remove(p)
	if p.Exit().Err == nil {
		c.ledger.ended(in.record)
	}
	c.mu.Lock()
	delete(c.running, p)
	c.mu.Unlock()
	c.starts.Done()
}

// programName is what the ledger may show of a command.
func programName(path string) string {
	name := []rune(bounds.Printable(filepath.Base(path)))
	return string(name[:min(len(name), 64)])
}
