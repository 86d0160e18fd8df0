package hub_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub"
)

// BenchmarkHistory is what 1,000 ended requests without results hold, the ids and texts of their events among it:
// docs/protocol.md says so.
func BenchmarkHistory(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(hub.HistoryHeap(1000)), "heap-bytes/1000")
	}
}
