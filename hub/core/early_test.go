package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

var start = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func TestEarlyCancels(t *testing.T) {
	var c earlyCancels
	now := start
	remember := func(id, server, reason string) {
		c.remember(now, id, server, &event.CancelCause{Reason: reason})
	}
	want := func(id, server, reason string) {
		t.Helper()
		got := c.take(now, id, server)
		if (got == nil) != (reason == "") || got != nil && got.Reason != reason {
			t.Errorf("%s of %s: got %v, want %q", id, server, got, reason)
		}
	}
	want("a", "s", "")
	remember("a", "", "any")
	want("a", "s", "any")
	want("a", "s", "") // it has been taken

	remember("a", "other", "of another")
	want("a", "s", "")
	want("a", "other", "of another")

	remember("a", "", "first")
	now = now.Add(earlyFor - time.Second)
	remember("b", "", "b")
	remember("a", "", "second") // it begins anew
	now = now.Add(2 * time.Second)
	want("a", "s", "second")
	remember("a", "", "third")
	now = now.Add(earlyFor - time.Second)
	want("b", "s", "") // expired
	want("a", "s", "third")
	if len(c.byID) != 0 {
		t.Errorf("%v are left", c.byID)
	}
}

// The oldest goes when there are too many, and one id that is cancelled over and over takes one place.
func TestEarlyCancelsAreBounded(t *testing.T) {
	var c earlyCancels
	c.remember(start, "oldest", "", &event.CancelCause{})
	for range 3 * maxEarly {
		c.remember(start, "same", "", &event.CancelCause{})
	}
	if len(c.byID) != 2 || len(c.order) > 2*maxEarly {
		t.Errorf("two cancels take %d places, and %d in their order", len(c.byID), len(c.order))
	}
	for i := range maxEarly - 1 {
		c.remember(start, fmt.Sprint(i), "", &event.CancelCause{})
	}
	if len(c.byID) != maxEarly {
		t.Errorf("%d are remembered", len(c.byID))
	}
	if c.take(start, "oldest", "s") != nil || c.take(start, "same", "s") == nil {
		t.Error("the oldest was kept, or the newer one dropped")
	}
}

// A cancel that came once more is as young as that: an older one goes first.
func TestEarlyCancelThatCameAgain(t *testing.T) {
	var c earlyCancels
	for _, id := range []string{"again", "oldest", "again"} {
		c.remember(start, id, "", &event.CancelCause{})
	}
	for i := range maxEarly - 1 {
		c.remember(start, fmt.Sprint(i), "", &event.CancelCause{})
	}
	if c.take(start, "oldest", "s") != nil || c.take(start, "again", "s") == nil {
		t.Error("the oldest was kept, or the newer one dropped")
	}
}

// The hub knows of the latest requests that they have ended, however often a host uses an id.
func TestRecentRequests(t *testing.T) {
	var r recent
	for i := range maxRecent {
		r.add(fmt.Sprint(i))
		r.add("0")
	}
	r.add("another")
	if r.has("0") || !r.has("1") || !r.has("another") || len(r.known) != maxRecent || len(r.ids) != maxRecent {
		t.Errorf("0: %v, 1: %v, another: %v, of %d", r.has("0"), r.has("1"), r.has("another"), len(r.known))
	}
}
