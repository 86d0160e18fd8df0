package hub_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub"
)

// BenchmarkTimeline is what the flight recorder costs a whole call: seven entries, beginning and end.
func BenchmarkTimeline(b *testing.B) {
	b.ReportAllocs()
	one := hub.BenchTimeline()
	for b.Loop() {
		one()
	}
}
