package journal

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
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

// Whatever servers and callers choose, an end and a history take no more than their bounds; the latest ends keep what
// they have.
func TestHistoryIsBounded(t *testing.T) {
	var y History
	for i := range 5000 {
		end := &event.RequestFinished{RequestID: fmt.Sprint(i), Subject: strings.Repeat("u", 4<<10),
			Result: strings.Repeat("r", 100<<10)}
		if i%2 == 0 {
			end.Result, end.McpError = "", &event.McpError{Message: strings.Repeat("e", 4<<10), Data: "{}"}
		}
		if i == 4000 {
			end.Subject = strings.Repeat("u", 64<<20)
		}
		y.Add(event.Event{Seq: uint64(i), Body: end})
	}
	results, errors, texts := 0, 0, 0
	latest := y.Latest(5000)
	for _, e := range latest {
		end := e.Body.(*event.RequestFinished)
		results, errors, texts = results+len(end.Result), errors+end.ErrorSize(), texts+len(end.Subject)+len(end.RequestID)
	}
	if results > bounds.HistoryResults || errors > bounds.HistoryErrors || texts > bounds.HistoryTexts {
		t.Errorf("%d bytes of results, %d of errors, %d of other texts", results, errors, texts)
	}
	last := latest[len(latest)-1].Body.(*event.RequestFinished)
	if last.RequestID != "4999" || last.Result == "" || len(latest) < 100 {
		t.Errorf("%d ends, the latest is %s with %d bytes", len(latest), last.RequestID, len(last.Result))
	}
}

// The latest thousand ends are kept. Those of them that come first lose their results and the data of their errors when
// there is too much, and what was delivered before stays as it was.
func TestHistoryKeepsTheLatest(t *testing.T) {
	var y History
	var delivered []*event.RequestFinished
	const size = 200 << 10
	for i := range 1010 {
		end := &event.RequestFinished{RequestID: fmt.Sprint(i), Result: strings.Repeat("r", size)}
		delivered = append(delivered, end)
		y.Add(event.Event{Seq: uint64(i), Body: end})
	}
	latest, whole := y.Latest(5000), 0
	for i, e := range latest {
		switch end := e.Body.(*event.RequestFinished); {
		case end.RequestID != fmt.Sprint(i+10):
			t.Fatalf("end %d is that of request %s", i, end.RequestID)
		case len(end.Result) == size:
			whole++
		case end.Result != "" || whole > 0:
			t.Errorf("request %s has %d bytes of its result, after %d whole ones", end.RequestID, len(end.Result), whole)
		}
	}
	if len(latest) != 1000 || whole != bounds.HistoryResults/size {
		t.Errorf("%d ends, %d with their result", len(latest), whole)
	}
	for _, end := range delivered {
		if len(end.Result) != size {
			t.Fatalf("the end of request %s has changed since it was delivered", end.RequestID)
		}
	}
}
