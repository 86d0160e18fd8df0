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
		w, v := withWindow(t, s)
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
