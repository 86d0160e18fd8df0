package journal

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub/redact"
)

// BenchmarkArguments measures the line that is made for each call before it starts.
func BenchmarkArguments(b *testing.B) {
	var r redact.Redactor
	r.Add("hunter2hunter2")
	b.ReportAllocs()
	for b.Loop() {
		PreviewArguments(`{"path":"src/cancel/request.go","pattern":"withdrawn","limit":50}`, &r)
	}
}
