package journal

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

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
