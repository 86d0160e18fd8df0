package outcome

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

func TestEarlyCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c EarlyCancels
		cause := func(reason string) *event.CancelCause { return &event.CancelCause{Reason: reason} }
		want := func(id, server, reason string) {
			t.Helper()
			got := c.Take(id, server)
			if (got == nil) != (reason == "") || got != nil && got.Reason != reason {
				t.Errorf("%s of %s: got %v, want %q", id, server, got, reason)
			}
		}
		want("a", "s", "")
		c.Remember("a", "", cause("any"))
		want("a", "s", "any")
		want("a", "s", "") // it has been taken

		c.Remember("a", "other", cause("of another"))
		want("a", "s", "")
		want("a", "other", "of another")

		c.Remember("a", "", cause("first"))
		time.Sleep(earlyFor - time.Second)
		c.Remember("b", "", cause("b"))
		c.Remember("a", "", cause("second")) // it begins anew
		time.Sleep(2 * time.Second)
		want("a", "s", "second")
		c.Remember("a", "", cause("third"))
		time.Sleep(earlyFor - time.Second)
		want("b", "s", "") // expired
		want("a", "s", "third")
		if ids := c.IDs(); len(ids) != 0 || c.order.Len() != 0 {
			t.Errorf("%v are left, and %d in their order", ids, c.order.Len())
		}
	})
}

// The oldest goes when there are too many, and one id that is cancelled over and over takes one place.
func TestEarlyCancelsAreBounded(t *testing.T) {
	var c EarlyCancels
	c.Remember("oldest", "", &event.CancelCause{})
	for range 2 * maxEarly {
		c.Remember("same", "", &event.CancelCause{})
	}
	if c.order.Len() != 2 {
		t.Errorf("two cancels take %d places", c.order.Len())
	}
	for i := range maxEarly - 1 {
		c.Remember(fmt.Sprint(i), "", &event.CancelCause{})
	}
	if n := len(c.IDs()); n != maxEarly || n != c.order.Len() {
		t.Errorf("%d are remembered, in an order of %d", n, c.order.Len())
	}
	if c.Take("oldest", "s") != nil || c.Take("same", "s") == nil {
		t.Error("the oldest was kept, or the newer one dropped")
	}
}
