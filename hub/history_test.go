package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// history returns the history that a window gets that attaches now and wants at most most entries.
func (w *world) history(most int) []event.Ended {
	w.t.Helper()
	v := w.attach(hub.Hello{MaxHistory: most})
	defer v.win.Detach(true)
	return v.start.Snapshot.History
}

func endedID(b event.Body) string {
	switch b := b.(type) {
	case *event.RequestCancelled:
		return b.RequestID
	case *event.RequestFinished:
		return b.RequestID
	}
	return fmt.Sprintf("%T", b)
}

func endedIDs(list []event.Ended) (ids []string) {
	for _, e := range list {
		ids = append(ids, endedID(e.Body))
	}
	return ids
}

// resultServer returns a server whose tool "big" answers with a result of as many bytes as its argument says.
func resultServer() *fakeserver.Server {
	s := hanging()
	s.Tool("big", func(c *fakeserver.CallContext) { c.Result(resultOf(c)) })
	return s
}

func resultOf(c *fakeserver.CallContext) string {
	var n int
	if _, err := fmt.Sscanf(string(c.Param("arguments")), `{"n":%d}`, &n); err != nil {
		return `{"content":[]}`
	}
	const around = len(`{"content":[],"_":""}`)
	return `{"content":[],"_":"` + strings.Repeat("x", n-around) + `"}`
}

// windowCall calls a tool for a window and waits for its end.
func (v *view) windowCall(c hub.CallRequest) (*hub.CallResult, error) {
	v.t.Helper()
	type outcome struct {
		result *hub.CallResult
		err    error
	}
	over := make(chan outcome, 1)
	if err := v.win.CallTool(c, func(r *hub.CallResult, err error) { over <- outcome{r, err} }); err != nil {
		v.t.Fatal(err)
	}
	o := <-over
	return o.result, o.err
}

// Every request that has ended is in the history, in both directions and of all methods, cancelled or not, with the
// same event that told the windows of its end.
func TestHistoryHoldsEveryEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		w.call(hub.CallRequest{ID: "done", Server: "s", Tool: "echo"}).ok(t)
		c := w.call(hub.CallRequest{ID: "asks", Server: "s", Tool: "ask"})
		p := v.prompt()
		if _, err := v.win.Cancel("asks", "no"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		got := w.history(1000)
		want := []string{ownID(w.hub, "start", 2), "done", p.RequestID, "asks"}
		if ids := endedIDs(got); fmt.Sprint(ids) != fmt.Sprint(want) {
			t.Fatalf("the history is %v, want %v", ids, want)
		}
		for _, e := range got {
			if e.Body != v.terminalOf(endedID(e.Body)) || e.Time.IsZero() {
				t.Errorf("%+v is not the event that the windows got", e)
			}
		}
		if ids := endedIDs(w.history(2)); fmt.Sprint(ids) != fmt.Sprint(want[2:]) {
			t.Errorf("the latest two are %v", ids)
		}
		if n := len(w.history(0)); n != 0 {
			t.Errorf("%d entries for a window that wants none", n)
		}
	})
}

// Of more than 1,000 requests that have ended the latest 1,000 are kept.
func TestHistoryKeepsTheLatestThousand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		for i := range 1010 {
			w.call(hub.CallRequest{ID: fmt.Sprintf("r%d", i), Server: "s", Tool: "echo"}).ok(t)
		}
		got := endedIDs(w.history(1000))
		if len(got) != 1000 || got[0] != "r10" || got[999] != "r1009" {
			t.Errorf("%d entries from %s to %s", len(got), got[0], got[len(got)-1])
		}
	})
}

// The windows are told the result of a window's call, up to 256 KiB, and its size. Of a host's call they are told the
// size only.
func TestResultOfAWindowsCallIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", resultServer()), "s:"+allow)
		one, two := w.everything(), w.everything()
		for _, tc := range []struct {
			size int
			told bool
		}{{100, true}, {256 << 10, true}, {256<<10 + 1, false}} {
			id := fmt.Sprintf("r%d", tc.size)
			r, err := one.windowCall(hub.CallRequest{ID: id, Server: "s", Tool: "big", Arguments: fmt.Sprintf(`{"n":%d}`,
				tc.size)})
			if err != nil || len(r.Result) != tc.size {
				t.Fatalf("%v, %v", r, err)
			}
			for _, v := range []*view{one, two} {
				end, _ := v.terminalOf(id).(*event.RequestFinished)
				if end == nil || end.ResultSize != tc.size || tc.told != (end.Result == string(r.Result)) || !tc.told &&
					end.Result != "" {
					t.Errorf("size %d: the windows were told %d bytes of %d", tc.size, len(end.Result), end.ResultSize)
				}
			}
		}
		w.call(hub.CallRequest{ID: "host", Server: "s", Tool: "echo"}).ok(t)
		if end, _ := one.terminalOf("host").(*event.RequestFinished); end == nil || end.Result != "" || end.ResultSize == 0 {
			t.Errorf("of a host's call the windows were told %+v", end)
		}
	})
}

// Finding A4: a server chooses how long an error is. The caller gets all of it, the windows get its beginning.
func TestHistoryBoundsOneHugeError_amount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := resultServer()
		s.Tool("fail", func(c *fakeserver.CallContext) { c.Error(-32000, strings.Repeat("no", 9<<20)) })
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		if _, err := v.windowCall(hub.CallRequest{ID: "small", Server: "s", Tool: "big",
			Arguments: `{"n":100}`}); err != nil {
			t.Fatal(err)
		}
		huge := w.call(hub.CallRequest{ID: "huge", Server: "s", Tool: "fail"})
		<-huge.done
		if told, _ := v.terminalOf("huge").(*event.RequestFinished); len(huge.result.Error.Message) != 18<<20 ||
			told == nil ||
			event.PayloadSize(told) > 8<<10 {
			t.Errorf("the caller got %d bytes, the windows %d", len(huge.result.Error.Message), event.PayloadSize(told))
		}
	})
}

// A snapshot has all ends of requests, with up to 2 MiB of results and up to 1 MiB of errors, those of the latest
// requests. Events that were delivered do not change.
func TestSnapshotBringsTheLatestResults(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := resultServer()
		const data = 64 << 10
		s.Tool("fail", func(c *fakeserver.CallContext) { c.ErrorData(-32000, "nono", `"`+strings.Repeat("x", data-2)+`"`) })
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		const size, calls = 200 << 10, 20
		for i := range calls {
			if _, err := v.windowCall(hub.CallRequest{ID: fmt.Sprintf("r%d", i),
				Server: "s", Tool: "big", Arguments: fmt.Sprintf(`{"n":%d}`, size)}); err != nil {
				t.Fatal(err)
			}
			<-w.call(hub.CallRequest{ID: fmt.Sprintf("f%d", i), Server: "s", Tool: "fail"}).done
		}
		got := w.history(2 * calls)
		if len(got) != 2*calls {
			t.Fatalf("%d ends", len(got))
		}
		results, errors := 0, 0
		for i, e := range got {
			end := e.Body.(*event.RequestFinished)
			switch {
			case end.McpError != nil && len(end.McpError.Data) == data:
				errors++
			case end.McpError != nil:
				if errors > 0 || end.McpError.Code != -32000 || !strings.HasPrefix(end.McpError.Message, "nono") {
					t.Errorf("entry %d has error %v after %d whole ones", i, end.McpError, errors)
				}
			case end.ResultSize != size || end.Result == "" && results > 0:
				t.Errorf("entry %d has %d bytes of %d, after %d with a result", i, len(end.Result), end.ResultSize, results)
			case end.Result != "":
				results++
			}
		}
		if results != 10 || errors != 15 {
			t.Errorf("%d results and %d whole errors", results, errors)
		}
		for _, end := range eventsOf[*event.RequestFinished](v) {
			if end.ResultSize == size && len(end.Result) != size || end.McpError != nil && len(end.McpError.Data) != data {
				t.Fatal("an event that was delivered has been changed")
			}
		}
	})
}
