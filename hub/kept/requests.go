package kept

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/results"
)

// Part is what can be read of a request.
type Part int

const (
	// Arguments are those of a tool or a prompt template: JSON text, "" without any.
	Arguments Part = iota
	// Result is the JSON text of what the server answered.
	Result
	parts
)

// Request is one that has ended.
type Request struct {
	ID, Server string
	Launch     string // the launch key of the server when the request was made
	Tool       string // for a tool call
	Arguments  string
	Result     []byte // JSON text as it came; nil: none came
	// Share is called if Result is still needed after Keep. What it returns is called when it is not any more.
	Share func() (release func())
}

// Requests keeps them. Safe for concurrent use; no method but Close and Read waits for the disk.
type Requests struct {
	store  *results.Store
	limits limits
	work   sync.WaitGroup // the goroutine that writes; added to with mu held, while closed is false

	mu      sync.Mutex // never held over the disk
	byID    map[string]*entry
	servers map[string]*holder
	total   amount
	waiting waiting
	queue   []job
	working bool
	closed  bool
}

// limits are those of package bounds; tests have smaller ones.
type limits struct {
	all, server    amount
	short          int // up to so many bytes a text stays in memory
	waitingOwn     int // bytes that wait to be written and that nothing else counts
	waitingResults int // bytes of results that wait, and count as in flight
}

// amount is what is kept, of one server or of all.
type amount struct{ entries, memory, disk int }

func (a amount) exceeds(most amount) bool {
	return a.entries > most.entries || a.memory > most.memory || a.disk > most.disk
}

func (a amount) plus(b amount) amount {
	return amount{a.entries + b.entries, a.memory + b.memory, a.disk + b.disk}
}

func (a amount) minus(b amount) amount {
	return amount{a.entries - b.entries, a.memory - b.memory, a.disk - b.disk}
}

// waiting is what is to be written.
type waiting struct{ own, results int }

// holder is what one server holds, the oldest first.
type holder struct {
	held    amount
	entries []*entry
}

// entry is one request.
type entry struct {
	id, server, launch string
	tool               string
	held               amount
	texts              [parts]text
	gone               bool
}

// Open makes it. Files go into the state directory; "" is a folder of this process alone. It must be closed.
func Open(stateDir string, log *slog.Logger) *Requests {
	return &Requests{
		store: results.OpenFolder(stateDir, "requests", log),
		limits: limits{
			all:            amount{bounds.KeptRequests, bounds.KeptMemoryBytes, bounds.KeptDiskBytes},
			server:         amount{bounds.ServerKeptRequests, bounds.ServerKeptMemoryBytes, bounds.ServerKeptDiskBytes},
			short:          bounds.KeptShortBytes,
			waitingOwn:     bounds.KeptWaitingBytes,
			waitingResults: bounds.KeptWaitingResults,
		},
		byID:    map[string]*entry{},
		servers: map[string]*holder{},
	}
}

// overhead is about what an entry takes besides its texts.
const overhead = 512

// Keep keeps a request; an earlier one with its id is forgotten. What finds no room is not kept, and Read says so.
func (k *Requests) Keep(r *Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	if before := k.byID[r.ID]; before != nil {
		k.forget(before)
	}
	e := &entry{id: r.ID, server: r.Server, launch: r.Launch, tool: r.Tool, held: amount{entries: 1, memory: overhead}}
	take(k, e, Arguments, r.Arguments, nil)
	if r.Result == nil {
		e.texts[Result].none = true
	} else {
		take(k, e, Result, r.Result, r.Share)
	}
	h := k.servers[r.Server]
	if h == nil {
		h = &holder{}
		k.servers[r.Server] = h
	}
	k.byID[e.id] = e
	h.entries = append(h.entries, e)
	h.held = h.held.plus(e.held)
	k.total = k.total.plus(e.held)
	for h.held.exceeds(k.limits.server) && len(h.entries) > 0 {
		k.forget(h.entries[0])
	}
	for k.total.exceeds(k.limits.all) {
		k.forget(k.largest().entries[0])
	}
	k.begin()
}

// largest is the server that holds the most of what there is too much of: a server that keeps little loses nothing to
// one that keeps much.
func (k *Requests) largest() *holder {
	share := func(a amount) float64 {
		most, worst := k.limits.all, 0.0
		for _, pair := range [][3]int{{a.entries, k.total.entries, most.entries}, {a.memory, k.total.memory, most.memory},
			{a.disk, k.total.disk, most.disk}} {
			if pair[1] > pair[2] {
				worst = max(worst, float64(pair[0])/float64(pair[2]))
			}
		}
		return worst
	}
	var most *holder
	for _, h := range k.servers {
		if most == nil || share(h.held) > share(most.held) {
			most = h
		}
	}
	return most
}

// forget lets go of an entry.
func (k *Requests) forget(e *entry) {
	h := k.servers[e.server]
	if i := slices.Index(h.entries, e); i == 0 { // nearly always: what is let go is the oldest
		h.entries[0] = nil
		h.entries = h.entries[1:]
	} else {
		h.entries = slices.Delete(h.entries, i, i+1)
	}
	h.held = h.held.minus(e.held)
	if len(h.entries) == 0 {
		delete(k.servers, e.server)
	}
	k.total = k.total.minus(e.held)
	delete(k.byID, e.id)
	e.gone = true
	for i := range e.texts {
		if file := e.texts[i].file; file != "" {
			k.queue = append(k.queue, job{remove: file})
		}
		e.texts[i].short = "" // what waits to be written lets go of itself
	}
}

// Tool gives the tool that a kept request called, and its server with the launch key that it had then; "" when it is
// not kept, or called none.
func (k *Requests) Tool(id string) (tool, server, launch string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.byID[id]; e != nil {
		return e.tool, e.server, e.launch
	}
	return "", "", ""
}

// Close waits for what is being written, and removes all.
func (k *Requests) Close() {
	k.mu.Lock()
	k.closed = true
	for _, e := range k.byID {
		k.forget(e)
	}
	k.begin()
	k.mu.Unlock()
	k.work.Wait()
	k.store.Close()
}
