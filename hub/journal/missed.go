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
	floor uint64 // Seq of the latest event that was dropped: a resume from before it is not possible
}

// missedEvent is an event and the only window that it is for, "" = all windows.
type missedEvent struct {
	event event.Event
	only  string
	size  int
}

// mustDeliver reports whether a window must not miss an event. Progress is shown again from the request itself, and
// logs may be lost.
func mustDeliver(b event.Body) bool {
	switch b.(type) {
	case *event.RequestProgressed, *event.LogMessage:
		return false
	}
	return true
}

// Add keeps an event, if it must not be missed. only is the only window that it is for, "" = all windows.
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

// Skip drops all events up to seq, because there is no window that could have missed them.
func (m *Missed) Skip(seq uint64) {
	m.queue, m.bytes, m.floor = queue[missedEvent]{}, 0, seq
}

// After returns a window's events with a Seq above seq, oldest first. ok is false if some of them were dropped.
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

// from returns the index of the first event whose Seq is not below seq.
func (m *Missed) from(seq uint64) int {
	return sort.Search(len(m.items), func(i int) bool { return m.items[i].event.Seq >= seq })
}

// Replace replaces the event with the same Seq, if it is still kept. Windows that have already got the old event are
// not affected.
func (m *Missed) Replace(e event.Event) {
	i := m.from(e.Seq)
	if i == len(m.items) || m.items[i].event.Seq != e.Seq {
		return
	}
	entry, size := &m.items[i], event.PayloadSize(e.Body)
	m.bytes += size - entry.size
	entry.event, entry.size = e, size
}
