package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

func TestAppendString(t *testing.T) {
	for _, s := range []string{"", "plain", `"\`, "\x00\x1f\n\t\r\x7f", "é€😀", "a\xffb\xc3", "\u2028</script>"} {
		var got string
		if err := json.Unmarshal(jsontext.AppendString(nil, s), &got); err != nil || got != strings.ToValidUTF8(s, "\ufffd") {
			t.Errorf("%q became %q, %v", s, got, err)
		}
	}
}

// The ring forgets the oldest, and knows the newest.
func TestTombstones(t *testing.T) {
	var r tombstones
	for i := range int64(3 * maxTombstones) {
		r.add(IntID(i), grave{method: "m", quiet: i%2 == 0})
	}
	if len(r.known) != maxTombstones || len(r.ring) != maxTombstones {
		t.Errorf("%d known, %d in the ring", len(r.known), len(r.ring))
	}
	for i, want := range map[int64]bool{0: false, 2*maxTombstones - 1: false, 2 * maxTombstones: true,
		3*maxTombstones - 1: true} {
		if g, known := r.has([]byte(IntID(i).raw)); known != want || g.quiet != (want && i%2 == 0) {
			t.Errorf("id %d: known %t, quiet %t", i, known, g.quiet)
		}
	}
}

// A cancel that comes between the registration of a call and its queueing leaves no trace either.
func TestFrameRemovedBeforeItIsQueued(t *testing.T) {
	b := newOutbox(NewLineConn(nil, nil, LineConnOptions{}), Options{WriteQueueBytes: 100}, nil, nil, nil)
	f := newFrame([]byte("{}"))
	if !b.remove(f) {
		t.Error("not removed")
	}
	if err := b.push(f, bounded, OutgoingMessage{}); err != nil || b.owned || b.head != nil || f.state != frameDropped {
		t.Errorf("queued after all: %v", err)
	}
}

// The same where messages are handed over: nothing is sent for a request that is over.
func TestFrameRemovedBeforeItIsHandedOver(t *testing.T) {
	sent := 0
	b := newOutbox(countingSender{sent: &sent}, Options{}, nil, nil, nil)
	f := newFrame([]byte("{}"))
	if !b.remove(f) {
		t.Error("not removed")
	}
	if err := b.push(f, bounded, OutgoingMessage{}); err != nil || sent != 0 {
		t.Errorf("%d sent, %v", sent, err)
	}
	if err := b.push(newFrame([]byte("{}")), bounded, OutgoingMessage{}); err != nil || sent != 1 {
		t.Errorf("%d sent, %v", sent, err)
	}
}

// countingSender is a connection of which only Send is used.
type countingSender struct {
	Conn
	sent *int
}

func (c countingSender) Send(OutgoingMessage) error {
	*c.sent++
	return nil
}
