package hub

import (
	"context"
	"testing"
)

// Whatever finds its way into the bundle for a bug report, no known secret leaves with it.
func TestTraceBundleIsRedacted(t *testing.T) {
	h := New(Options{Version: "v-tok-1234"})
	defer h.Close(context.Background())
	h.redactor.Add("tok-1234")
	if got := h.TraceBundle(); got["version"] != "v-[redacted]" || got["os"] == nil {
		t.Errorf("%v", got)
	}
}
