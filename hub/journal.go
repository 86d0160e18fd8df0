package hub

import (
	"sort"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// journalSize is how many must-deliver events a window can miss and still resume. An event is a few hundred bytes.
const journalSize = 4096

// journal keeps the latest must-deliver events for windows that resume. Guarded by Hub.mu.
type journal struct {
	entries []journalEntry // oldest first
	bytes   int
	floor   uint64 // Seq of the latest event that fell out: a resume from before it is not possible
}

// journalEntry is an event and the one window that it was for, "" = all.
type journalEntry struct {
	event event.Event
	only  string
	size  int
}

// journaled tells which events a window must not miss. Progress is shown again from the request itself, logs may be
// lost.
func journaled(b event.Body) bool {
	switch b.(type) {
	case *event.RequestProgressed, *event.LogMessage:
		return false
	}
	return true
}

func (j *journal) add(e event.Event, only string) {
	size := event.PayloadSize(e.Body)
	j.entries = append(j.entries, journalEntry{e, only, size})
	j.bytes += size
	for len(j.entries) > journalSize || j.bytes > bounds.JournalBytes {
		oldest := &j.entries[0]
		j.floor = oldest.event.Seq
		j.bytes -= oldest.size
		*oldest = journalEntry{} // the array lives on for a while
		j.entries = j.entries[1:]
	}
}

// after gives a window's events with a Seq above seq, oldest first; ok is false when some of them are gone.
func (j *journal) after(seq uint64, windowID string) (events []event.Event, ok bool) {
	if seq < j.floor {
		return nil, false
	}
	for _, entry := range j.entries[j.from(seq+1):] {
		if entry.only == "" || entry.only == windowID {
			events = append(events, entry.event)
		}
	}
	return events, true
}

// from is the place of the first event whose Seq is not below seq.
func (j *journal) from(seq uint64) int {
	return sort.Search(len(j.entries), func(i int) bool { return j.entries[i].event.Seq >= seq })
}

// replace puts another body in the place of that of an event, if it is still kept. Who was given the event before has
// the old one.
func (j *journal) replace(e event.Event) {
	i := j.from(e.Seq)
	if i == len(j.entries) || j.entries[i].event.Seq != e.Seq {
		return
	}
	entry, size := &j.entries[i], event.PayloadSize(e.Body)
	j.bytes += size - entry.size
	entry.event, entry.size = e, size
}

// ringSize is how many ended requests are told apart from unknown ones.
const ringSize = 8192

// ring remembers the latest ids.
type ring struct {
	known map[string]struct{}
	ids   []string
	next  int
}

func (r *ring) add(id string) {
	if r.has(id) {
		return // a host may use an id again
	}
	if r.known == nil {
		r.known = map[string]struct{}{}
	}
	if len(r.ids) < ringSize {
		r.ids = append(r.ids, id)
	} else {
		delete(r.known, r.ids[r.next])
		r.ids[r.next] = id
		r.next = (r.next + 1) % ringSize
	}
	r.known[id] = struct{}{}
}

func (r *ring) has(id string) bool {
	_, ok := r.known[id]
	return ok
}
