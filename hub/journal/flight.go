package journal

import (
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
)

// Flight is what the core was told and has ordered, in order, as far as there is room. It has the values themselves,
// since each call adds to it; they are written as text when somebody asks. A copy does not change any more.
type Flight struct {
	mark         string // names the hub in the ids that it makes
	began        time.Time
	older, newer []noted // newer is added to; once it has half of the room, it takes the place of older
	bytes        int     // about how many bytes newer holds
	partial      bool    // what came before is not kept
}

// noted is an event, or an effect that it gave.
type noted struct {
	at   time.Duration // of the event
	what any
}

// notedBytes is about how many bytes an event or an effect takes.
const notedBytes = 128

// note adds an event and the effects that it gave.
func (f *Flight) note(at time.Duration, e core.Event, effects []core.Effect) {
	what, size := e, notedBytes*(1+len(effects))
	switch e := e.(type) { // texts of strangers, and lists as long as calls are open
	case core.Asked:
		size += 40 * (len(e.Among) + len(e.Past))
	case core.ClientUnreachable:
		size += 40 * len(e.Among)
	case core.CancelAsked:
		size += len(e.ID) + len(e.Cause.Reason)
	case core.AskerLeft:
		size += len(e.Leave.End.Reason)
	case core.ServerAdded:
		e.Launch = withoutRules(e.Launch)
		what, size = e, size+100*len(e.Launch)
	case core.ServerConfigured:
		e.Launch = withoutRules(e.Launch)
		what, size = e, size+100*len(e.Launch)
	case core.LaunchSeen:
		e.Entries = withoutRules(e.Entries)
		what, size = e, size+100*len(e.Entries)
	}
	if f.bytes+size > bounds.FlightBytes/2 {
		f.partial = f.partial || f.older != nil
		f.older, f.newer, f.bytes = f.newer, make([]noted, 0, len(f.newer)), 0
	}
	if size > bounds.FlightBytes/2 { // thousands of calls end at once
		f.older, f.newer, f.partial = nil, nil, true
		return
	}
	f.bytes += size
	f.newer = append(f.newer, noted{at, what})
	for _, effect := range effects {
		f.newer = append(f.newer, noted{at, effect})
	}
}

// withoutRules returns entries without what they say of tools: that would keep old configs, and changes no effect.
func withoutRules(entries []core.LaunchEntry) []core.LaunchEntry {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Tools = nil
	}
	return entries
}

// Lines writes the record in the notation of the core, for a bug report. Unless it is partial, hub/core can play it, as
// it plays its conversations.
func (f *Flight) Lines() []string {
	first := "hub " + f.mark
	if f.partial {
		first += " partial"
	}
	lines, at := []string{"# began " + f.began.UTC().Format(time.RFC3339Nano), first}, time.Duration(0)
	write := core.Notation{Start: f.began, NoReasons: true, Numbered: true}
	for _, t := range slices.Concat(f.older, f.newer) {
		if t.at != at {
			at = t.at
			lines = append(lines, "at "+at.String())
		}
		line := write.Line(t.what)
		if _, is := t.what.(core.Effect); is {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	return lines
}
