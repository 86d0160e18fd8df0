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
	remember := func(id string, server ServerNumber, reason string) {
		c.remember(now, id, server, &event.CancelCause{Reason: reason})
	}
	want := func(id string, server ServerNumber, reason string) {
		t.Helper()
		got := c.take(now, id, server)
		if (got == nil) != (reason == "") || got != nil && got.Reason != reason {
			t.Errorf("%s of %d: got %v, want %q", id, server, got, reason)
		}
	}
	want("a", 1, "")
	remember("a", 0, "any")
	want("a", 1, "any")
	want("a", 1, "") // it has been taken

	remember("a", 2, "of another")
	want("a", 1, "")
	want("a", 2, "of another")

	remember("a", 0, "first")
	now = now.Add(earlyFor - time.Second)
	remember("b", 0, "b")
	remember("a", 0, "second") // it begins anew
	now = now.Add(2 * time.Second)
	want("a", 1, "second")
	remember("a", 0, "third")
	now = now.Add(earlyFor - time.Second)
	want("b", 1, "") // expired
	want("a", 1, "third")
	if len(c.list) != 0 {
		t.Errorf("%v are left", c.list)
	}
}

// The oldest goes when there are too many, and one id that is cancelled over and over takes one place.
func TestEarlyCancelsAreBounded(t *testing.T) {
	var c earlyCancels
	c.remember(start, "oldest", 0, &event.CancelCause{})
	for range 2 * maxEarly {
		c.remember(start, "same", 0, &event.CancelCause{})
	}
	if len(c.list) != 2 {
		t.Errorf("two cancels take %d places", len(c.list))
	}
	for i := range maxEarly - 1 {
		c.remember(start, fmt.Sprint(i), 0, &event.CancelCause{})
	}
	if len(c.list) != maxEarly {
		t.Errorf("%d are remembered", len(c.list))
	}
	if c.take(start, "oldest", 1) != nil || c.take(start, "same", 1) == nil {
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
