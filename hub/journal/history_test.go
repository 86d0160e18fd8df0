package journal

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// BenchmarkHistory measures what 1,000 ended requests without results hold, with the ids and texts of their events:
// docs/protocol.md gives the number.
func BenchmarkHistory(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(historyHeap(1000)), "heap-bytes/1000")
	}
}

// historyHeap fills a history with n ends of tool calls, as the hub makes them, and gives the heap that it holds then.
func historyHeap(n int) uint64 {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var y History
	for i := range n {
		y.Add(event.Event{Seq: uint64(i), Time: time.Now(), Body: &event.RequestFinished{
			RequestID: fmt.Sprintf("5f0f6d2e-8a4b-4c1e-9d3c-%012d", i), Server: "s", Direction: event.Outgoing,
			Method: "tools/call", Tool: "echo", State: event.StateDone,
		}})
	}
	held := heap() - before
	runtime.KeepAlive(&y)
	return held
}
