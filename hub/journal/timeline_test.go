package journal

import (
	"fmt"
	"testing"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/redact"
)

// note records a message of a server for a request.
func note(t *Timeline, method string, bytes int) {
	t.Message(jsonrpc.Observed{Sender: jsonrpc.Incoming, Kind: jsonrpc.KindNotification, Method: method, Bytes: bytes})
}

func shown(s event.RequestState) core.Effect { return core.RequestShown{State: s, Moved: true} }

// Of a request's progress the first entries are kept and the latest one; of other entries as many from both ends.
func TestTimelineIsBounded(t *testing.T) {
	rec := NewRecorder("hub")
	one := rec.NewTimeline()
	one.Begin(1, "r-1")
	one.Ordered(shown(event.StateRunning))
	const steps = 500
	for i := range steps {
		note(one, methodProgress, i+1)
	}
	for i := range steps {
		note(one, fmt.Sprint("m", i), 1)
	}
	one.Ordered(shown(event.StateDone))
	one.End(event.RequestInfo{ID: "r1"})
	got := Read(rec.Ended(func(string, string) bool { return true }), 0, &redact.Redactor{})[0]
	progress, latest := 0, 0
	for _, e := range got.Entries {
		if e.Message != nil && e.Message.Method == methodProgress {
			progress, latest = progress+1, e.Message.Bytes
		}
	}
	if progress != 20 || latest != steps || len(got.Entries) != maxTraceEntries {
		t.Errorf("%d entries, %d of progress, the latest has %d bytes", len(got.Entries), progress, latest)
	}
	if want := 2*steps + 2 - len(got.Entries); got.Omitted != want {
		t.Errorf("%d are omitted, want %d", got.Omitted, want)
	}
	last := len(got.Entries) - 1
	if got.Entries[0].State != event.StateRunning || got.Entries[last].State != event.StateDone ||
		got.Entries[last-1].Message.Method != fmt.Sprint("m", steps-1) {
		t.Errorf("it begins with %+v and ends with %+v", got.Entries[0], got.Entries[last-1:])
	}
}

// The timelines of the latest requests that are over are kept, beside those of open ones: so many, and so many bytes.
func TestTimelinesAreBounded(t *testing.T) {
	for name, tc := range map[string]struct{ entries, most int }{
		"few entries":  {4, maxTraces},
		"many entries": {maxTraceEntries, maxTraceBytes / (maxTraceEntries*recordBytes + timelineBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			rec := NewRecorder("hub")
			open := rec.NewTimeline()
			open.Begin(0, "")
			for i := range 2 * maxTraces {
				one := rec.NewTimeline()
				one.Begin(core.RequestNumber(i+1), "")
				for range tc.entries {
					note(one, "m", 1)
				}
				one.End(event.RequestInfo{ID: fmt.Sprint("r", i)})
			}
			ended := rec.Ended(func(string, string) bool { return true })
			if n := len(ended); n > tc.most || n < tc.most-1 || ended[n-1].Request.ID != fmt.Sprint("r", 2*maxTraces-1) {
				t.Errorf("%d are kept, to %s; want %d", n, ended[n-1].Request.ID, tc.most)
			}
			if rec.Held() > maxTraceBytes {
				t.Errorf("they hold %d bytes", rec.Held())
			}
			if wrong := rec.Inconsistent([]*Timeline{open}); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// BenchmarkTimeline is what the flight recorder costs a whole call: seven entries, beginning and end.
func BenchmarkTimeline(b *testing.B) {
	b.ReportAllocs()
	rec := NewRecorder("hub")
	n := core.RequestNumber(0)
	id := jsonrpc.IntID(12345)
	info := event.RequestInfo{ID: "r1"}
	for b.Loop() {
		n++
		t := rec.NewTimeline()
		t.Begin(n, "")
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
