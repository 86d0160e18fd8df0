package journal

import (
	"log/slog"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Part is a part of a request that can be read.
type Part int

const (
	// Arguments are the arguments of a tool or a prompt template: JSON text, "" if there are none.
	Arguments Part = iota
	// Result is the JSON text of the server's answer.
	Result
	parts
)

// KeptRequest is a request that has ended.
type KeptRequest struct {
	ID, Server string
	Launch     string // the launch key of the server when the request was made
	Tool       string // "" if the request is not a tool call
	Arguments  string
	Result     []byte // JSON text as it came; nil if none came
}

// KeptRequests keeps requests. It is safe for concurrent use. No method but Close and Read waits for the disk.
type KeptRequests struct {
	store   *Results
	limits  keptLimits
	waiting *bounds.Account // the texts that wait to be written
	work    sync.WaitGroup  // the goroutine that writes; a goroutine is added only with mu held, and while closed is false

	mu      sync.Mutex // never held while the disk is accessed
	byID    map[string]*entry
	oldest  []*entry // all, the oldest first
	servers map[string]amount
	total   amount
	queue   []job
	working bool
	closed  bool
}

// keptLimits are the limits of package bounds; tests use smaller ones.
type keptLimits struct {
	all, server amount
	short       int // a text of up to so many bytes stays in memory
}

// amount is how much is kept, of one server or of all servers.
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

// entry is one kept request.
type entry struct {
	id, server, launch string
	tool               string
	held               amount
	texts              [parts]text
	gone               bool
}

// OpenKeptRequests returns an empty KeptRequests. Its files go into the state directory; with "", into a folder of this
// process alone. waiting bounds the texts that wait to be written, in bytes. The caller must close it.
func OpenKeptRequests(stateDir string, log *slog.Logger, waiting *bounds.Account) *KeptRequests {
	return &KeptRequests{
		store: OpenResults(stateDir, "requests", log),
		limits: keptLimits{
			all:    amount{bounds.KeptRequests, bounds.KeptMemoryBytes, bounds.KeptDiskBytes},
			server: amount{bounds.ServerKeptRequests, bounds.ServerKeptMemoryBytes, bounds.ServerKeptDiskBytes},
			short:  bounds.KeptShortBytes,
		},
		waiting: waiting,
		byID:    map[string]*entry{},
		servers: map[string]amount{},
	}
}

// overhead is about how many bytes an entry takes besides its texts.
const overhead = 512

// Keep keeps a request, and forgets an earlier one with the same id. A text for which there is no room is not kept, and
// Read says so.
func (k *KeptRequests) Keep(r *KeptRequest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	if before := k.byID[r.ID]; before != nil {
		k.forget(before)
	}
	e := &entry{id: r.ID, server: r.Server, launch: r.Launch, tool: r.Tool, held: amount{entries: 1, memory: overhead}}
	take(k, e, Arguments, r.Arguments)
	if r.Result == nil {
		e.texts[Result].none = true
	} else {
		take(k, e, Result, r.Result)
	}
	k.byID[e.id] = e
	k.oldest = append(k.oldest, e)
	k.servers[e.server] = k.servers[e.server].plus(e.held)
	k.total = k.total.plus(e.held)
	for k.servers[e.server].exceeds(k.limits.server) {
		k.forget(k.oldest[slices.IndexFunc(k.oldest, func(o *entry) bool { return o.server == e.server })])
	}
	for k.total.exceeds(k.limits.all) {
		k.forget(k.oldest[0])
	}
	k.begin()
}

// forget removes an entry.
func (k *KeptRequests) forget(e *entry) {
	i := slices.Index(k.oldest, e)
	k.oldest = slices.Delete(k.oldest, i, i+1)
	if rest := k.servers[e.server].minus(e.held); rest == (amount{}) {
		delete(k.servers, e.server)
	} else {
		k.servers[e.server] = rest
	}
	k.total = k.total.minus(e.held)
	delete(k.byID, e.id)
	e.gone = true
	for i := range e.texts {
		if file := e.texts[i].file; file != "" {
			k.queue = append(k.queue, job{remove: file})
		}
		e.texts[i].short = "" // a text that waits to be written is freed by written
	}
}

// Tool returns the tool that a kept request called, and its server with the launch key that the server had then. tool
// is "" if the request is not kept, or called no tool.
func (k *KeptRequests) Tool(id string) (tool, server, launch string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.byID[id]; e != nil {
		return e.tool, e.server, e.launch
	}
	return "", "", ""
}

// Close waits for what is being written, and removes everything.
func (k *KeptRequests) Close() {
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

// text is one part of an entry: in memory, in a file, waiting to be written, or not kept.
type text struct {
	none  bool   // the request has no such part
	lost  string // why it is not kept
	short string
	long  []byte // set until it is written
	file  string // its name in the store
}

// job is a task of the goroutine that writes: it writes a part of an entry, or removes a file.
type job struct {
	of     *entry
	part   Part
	bytes  []byte
	remove string
}

// take stores a text in an entry.
func take[T string | []byte](k *KeptRequests, e *entry, part Part, s T) {
	t, size := &e.texts[part], len(s)
	switch {
	case size <= k.limits.short:
		t.short = string(s)
		e.held.memory += size
	case size > k.limits.server.disk:
		t.lost = "it is too long to be kept"
	case k.waiting.Take(size) != nil:
		t.lost = "too much ended at once to be written"
	default:
		t.long = []byte(s)
		e.held.disk += size
		k.queue = append(k.queue, job{of: e, part: part, bytes: t.long})
	}
}

// begin starts the goroutine that works off the queue, if it does not run.
func (k *KeptRequests) begin() {
	if k.working || len(k.queue) == 0 {
		return
	}
	k.working = true
	k.work.Go(k.run)
}

func (k *KeptRequests) run() {
	for {
		j, ok := k.next()
		if !ok {
			return
		}
		switch {
		case j.remove != "":
			k.store.Remove(j.remove)
		case k.wanted(j):
			file, err := k.store.Keep(j.bytes)
			k.written(j, file, err)
		default:
			k.written(j, "", nil)
		}
	}
}

func (k *KeptRequests) next() (job, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queue) == 0 {
		k.working, k.queue = false, nil
		return job{}, false
	}
	j := k.queue[0]
	k.queue[0] = job{} // the array still exists for a while
	k.queue = k.queue[1:]
	return j, true
}

func (k *KeptRequests) wanted(j job) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !j.of.gone
}

// written records how the writing of a text has ended, and releases the text.
func (k *KeptRequests) written(j job, file string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting.Give(len(j.bytes))
	t := &j.of.texts[j.part]
	t.long = nil
	switch {
	case err != nil:
		t.lost = "it could not be written; the log says why"
	case j.of.gone && file != "":
		k.queue = append(k.queue, job{remove: file})
	default:
		t.file = file
	}
}

// Read returns a piece of a part of the request with this id that ended last; see PieceOf. Errors: NOT_FOUND
// REQUEST_NOT_KEPT, NO_RESULT.
func (k *KeptRequests) Read(id string, part Part, offset int64, limit int) (Piece, error) {
	t, known := k.find(id, part)
	switch {
	case !known:
		return Piece{}, notKept(id, "it has not ended, had to make room for others, or was never known; "+
			"the hub keeps the latest ones for as long as it runs, and nothing of what servers ask")
	case t.none:
		return Piece{}, event.Fail(event.CodeNotFound, event.ReasonNoResult, []string{"request_id", id},
			"request %q has no result: it failed, or was cancelled", bounds.Printable(id))
	case t.lost != "":
		return Piece{}, notKept(id, t.lost)
	case t.long != nil:
		return PieceOf(t.long, offset, limit), nil
	case t.file == "":
		return PieceOf(t.short, offset, limit), nil
	}
	p, err := k.store.ReadPiece(t.file, offset, limit)
	if err != nil {
		return Piece{}, notKept(id, "its file is gone")
	}
	return p, nil
}

func (k *KeptRequests) find(id string, part Part) (text, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.byID[id]
	if e == nil || part < 0 || part >= parts {
		return text{}, false
	}
	return e.texts[part], true
}

func notKept(id, why string) error {
	return event.Fail(event.CodeNotFound, event.ReasonRequestNotKept, []string{"request_id", id},
		"what belongs to request %q is not kept: %s", bounds.Printable(id), why)
}
