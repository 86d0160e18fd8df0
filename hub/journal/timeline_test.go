package journal

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// BenchmarkTimeline is what the flight recorder costs a whole call: seven entries, beginning and end.
func BenchmarkTimeline(b *testing.B) {
	b.ReportAllocs()
	rec := NewRecorder("hub")
	n := core.RequestNumber(0)
	shown := func(s event.RequestState) core.Effect { return core.RequestShown{State: s, Moved: true} }
	id := jsonrpc.IntID(12345)
	info := event.RequestInfo{ID: "r1"}
	for b.Loop() {
		n++
		t := rec.NewTimeline()
		t.Begin(n)
		for _, state := range []event.RequestState{event.StateQueued, event.StateConnecting, event.StateRunning} {
			t.Ordered(shown(state))
		}
		t.Message(jsonrpc.Observed{Sender: jsonrpc.Outgoing, Kind: jsonrpc.KindRequest, Method: "tools/call", ID: id,
			Bytes: 100})
		t.Message(jsonrpc.Observed{Sender: jsonrpc.Incoming, Kind: jsonrpc.KindNotification, Method: methodProgress,
			Bytes: 100})
		t.Message(jsonrpc.Observed{Sender: jsonrpc.Incoming, Kind: jsonrpc.KindResponse, Method: "tools/call", ID: id,
			Bytes: 100})
		t.Ordered(shown(event.StateDone))
		t.End(info)
	}
}
