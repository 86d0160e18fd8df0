package jsonrpc

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/bounds"
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

// The tombstones keep the newest maxTombstones ids, the newest maxTags of them with their tags, and forget older ones.
func TestTombstones(t *testing.T) {
	var r tombstones
	for i := range int64(3 * maxTombstones) {
		r.add(IntID(i), cancelledCall{method: "m", quiet: i%2 == 0, tag: i})
		if i%97 != 0 {
			continue
		}
		tags := 0
		for _, g := range r.known {
			if g.tag != nil {
				tags++
			}
		}
		if g := r.known[IntID(max(0, i+1-maxTags))]; tags != int(min(i+1, maxTags)) || g.tag == nil {
			t.Fatalf("after %d: %d with their tags", i, tags)
		}
	}
	if len(r.known) != maxTombstones || len(r.ring) != maxTombstones {
		t.Errorf("%d known, %d in the ring", len(r.known), len(r.ring))
	}
	for i, want := range map[int64]bool{0: false, 2*maxTombstones - 1: false, 2 * maxTombstones: true,
		3*maxTombstones - 1: true} {
		if g, known := r.known[IntID(i)]; known != want || g.quiet != (want && i%2 == 0) {
			t.Errorf("id %d: known %t, quiet %t", i, known, g.quiet)
		}
	}
}

// A request that is cancelled between its registration and its queueing is not queued.
func TestFrameRemovedBeforeItIsQueued(t *testing.T) {
	b := newOutbox(NewLineConn(nil, nil, LineConnOptions{}), Options{WriteQueueBytes: 100}, never, nil, nil, nil)
	f := newFrame([]byte("{}"))
	if !b.remove(f) {
		t.Error("not removed")
	}
	if err := b.push(f, bounded, OutgoingMessage{}); err != nil || b.owned || b.head != nil || f.state != frameDropped {
		t.Errorf("queued after all: %v", err)
	}
}

// The same with a Sender: nothing is sent for a request that was cancelled before.
func TestFrameRemovedBeforeItIsHandedOver(t *testing.T) {
	sent := 0
	b := newOutbox(countingSender{sent: &sent}, Options{}, never, nil, nil, nil)
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

func never() bool { return false }

// batchConn accepts every write, and records which messages came through TryWrite and which in a batch.
type batchConn struct {
	alone, batched []string
	ended          chan struct{}
}

func (c *batchConn) ReadMessage(*bounds.Account) (Message, error) {
	<-c.ended
	return Message{}, io.EOF
}

func (c *batchConn) Close() error {
	close(c.ended)
	return nil
}

func (c *batchConn) TryWrite(line []byte) (int, error) {
	c.alone = append(c.alone, strings.TrimSpace(string(line)))
	return len(line), nil
}

func (c *batchConn) Write(lines []byte) (int, error) {
	c.batched = append(c.batched, strings.Fields(string(lines))...)
	return len(lines), nil
}

func (c *batchConn) Written() uint64 { return 0 }

// While few requests are open, each is written by its caller; while many are open, by the writer goroutine. A cancel is
// written at once by the goroutine that cancels, however many are open.
func TestWhoWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &batchConn{ended: make(chan struct{})}
		p := NewPeer(conn, Options{})
		defer p.Close(nil)
		var calls []*Call
		const many = 50
		for range many {
			c, err := p.Begin("m", nil)
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, c)
		}
		synctest.Wait()
		if len(conn.alone) != manyOpen-1 || len(conn.batched) != many-manyOpen+1 {
			t.Errorf("%d were written by their callers and %d by the writer goroutine", len(conn.alone), len(conn.batched))
		}
		for i, msg := range append(slices.Clone(conn.alone), conn.batched...) {
			if want := string(appendRequest(nil, calls[i].ID(), "m", nil)); msg != want {
				t.Errorf("message %d is %s, want %s", i, msg, want)
			}
		}
		conn.alone, conn.batched = nil, nil
		if ok, err := p.tracker.Cancel(Outgoing, calls[0].ID(), nil); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if len(conn.alone) != 1 || !strings.Contains(conn.alone[0], "notifications/cancelled") {
			t.Errorf("a cancel was not written at once: %q", conn.alone)
		}
		for _, c := range calls[1 : many-manyOpen+2] { // as many as leave fewer than manyOpen open
			c.cancelWith(errors.New("test"))
		}
		synctest.Wait()
		conn.alone, conn.batched = nil, nil
		if _, err := p.Begin("m", nil); err != nil || len(conn.alone) != 1 {
			t.Errorf("%d messages written by the caller, want 1 when few requests are open: %v", len(conn.alone), err)
		}
	})
}
