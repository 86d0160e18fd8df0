package journal

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

func finished(text string) event.Body {
	return &event.RequestFinished{RequestID: "r", Server: "s", Result: text}
}

// A window gets what it missed and nothing that was for another one, or is told that some of it is gone.
func TestMissed(t *testing.T) {
	var m Missed
	for seq := uint64(1); seq <= 6; seq++ {
		e := event.Event{Seq: seq, Body: finished("")}
		switch seq {
		case 2:
			m.Add(e, "one")
		case 3:
			m.Add(e, "other")
		case 4: // what is told anew, or may be lost
			e.Body = &event.RequestProgressed{}
			m.Add(e, "")
		case 5:
			e.Body = &event.LogMessage{}
			m.Add(e, "")
		default:
			m.Add(e, "")
		}
	}
	seqs := func(after uint64, window string) string {
		events, ok := m.After(after, window)
		if !ok {
			return "gone"
		}
		var b strings.Builder
		for _, e := range events {
			b.WriteByte(byte('0' + e.Seq))
		}
		return b.String()
	}
	for _, c := range []struct {
		after        uint64
		window, want string
	}{{0, "one", "126"}, {0, "other", "136"}, {1, "one", "26"}, {2, "one", "6"}, {6, "one", ""}, {0, "", "16"}} {
		if got := seqs(c.after, c.window); got != c.want {
			t.Errorf("after %d, %q gets %q, want %q", c.after, c.window, got, c.want)
		}
	}
	m.Replace(event.Event{Seq: 6, Body: finished("x")})
	m.Replace(event.Event{Seq: 7, Body: finished("y")})
	if events, _ := m.After(5, "one"); len(events) != 1 || events[0].Body.(*event.RequestFinished).Result != "x" {
		t.Errorf("not replaced: %+v", events)
	}
	m.Add(event.Event{Seq: 8, Body: finished(strings.Repeat("x", bounds.JournalBytes))}, "")
	if got := seqs(7, "one"); got != "gone" || m.bytes != 0 || len(m.items) != 0 {
		t.Errorf("after an event beyond the bound: %q, %d bytes", got, m.bytes)
	}
	for seq := uint64(9); seq < 9+2*maxMissed; seq++ {
		m.Add(event.Event{Seq: seq, Body: finished("")}, "")
	}
	if _, ok := m.After(8, ""); ok || len(m.items) != maxMissed || m.bytes > bounds.JournalBytes {
		t.Errorf("%d events of %d bytes, from %d on", len(m.items), m.bytes, m.floor)
	}
}

// The latest ids are known; one that is used again takes no second place.
func TestRecent(t *testing.T) {
	var r Recent
	id := func(i int) string { return strings.Repeat("x", i/1000) + string(rune(0x4e00+i%1000)) }
	for i := range maxRecent + 10 {
		r.Add(id(i))
		r.Add(id(i))
	}
	for i := range maxRecent + 10 {
		if r.Has(id(i)) != (i >= 10) {
			t.Fatalf("id %d is known: %v", i, r.Has(id(i)))
		}
	}
	if len(r.known) != maxRecent || len(r.ids) != maxRecent {
		t.Errorf("%d and %d ids", len(r.known), len(r.ids))
	}
}
