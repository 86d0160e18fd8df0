package journal

import (
	"sort"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// maxMissed is how many must-deliver events a window can miss and still resume. An event is a few hundred bytes.
const maxMissed = 4096

// Missed keeps the latest events that a window must not miss, for windows that resume.
type Missed struct {
	queue[missedEvent]
	bytes int
	floor uint64 // Seq of the latest event that fell out: a resume from before it is not possible
}

// missedEvent is an event and the one window that it was for, "" = all.
type missedEvent struct {
	event event.Event
	only  string
	size  int
}

// mustDeliver tells which events a window must not miss. Progress is shown again from the request itself, logs may be
// lost.
func mustDeliver(b event.Body) bool {
	switch b.(type) {
	case *event.RequestProgressed, *event.LogMessage:
		return false
	}
	return true
}

// Add keeps an event, if it must not be missed; only is the one window that it was for, "" = all.
func (m *Missed) Add(e event.Event, only string) {
	if !mustDeliver(e.Body) {
		return
	}
	size := event.PayloadSize(e.Body)
	m.push(missedEvent{e, only, size})
	m.bytes += size
	for len(m.items) > maxMissed || m.bytes > bounds.JournalBytes {
		oldest := m.pop()
		m.floor = oldest.event.Seq
		m.bytes -= oldest.size
	}
}

// Skip leaves out an event that no window can have missed, because there is none, and all before it.
func (m *Missed) Skip(seq uint64) {
	m.queue, m.bytes, m.floor = queue[missedEvent]{}, 0, seq
}

// After gives a window's events with a Seq above seq, oldest first; ok is false when some of them are gone.
func (m *Missed) After(seq uint64, windowID string) (events []event.Event, ok bool) {
	if seq < m.floor {
		return nil, false
	}
	for _, entry := range m.items[m.from(seq+1):] {
		if entry.only == "" || entry.only == windowID {
			events = append(events, entry.event)
		}
	}
	return events, true
}

// from is the place of the first event whose Seq is not below seq.
func (m *Missed) from(seq uint64) int {
	return sort.Search(len(m.items), func(i int) bool { return m.items[i].event.Seq >= seq })
}

// Replace puts another body in the place of that of an event, if it is still kept. Who was given the event before has
// the old one.
func (m *Missed) Replace(e event.Event) {
	i := m.from(e.Seq)
	if i == len(m.items) || m.items[i].event.Seq != e.Seq {
		return
	}
	entry, size := &m.items[i], event.PayloadSize(e.Body)
	m.bytes += size - entry.size
	entry.event, entry.size = e, size
}
