package hub_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// reads returns a part of a request, read in pieces.
func (w *world) reads(id string, part journal.Part) string {
	w.t.Helper()
	text := ""
	for offset := int64(0); ; {
		p, err := w.hub.ReadRequest(id, part, offset, 1<<20)
		if err != nil {
			w.t.Errorf("part %d of %s: %v", part, id, err)
			return text
		}
		if text += p.Text; p.Next == 0 {
			return text
		}
		offset = p.Next
	}
}

func (w *world) cannotRead(id string, part journal.Part, reason string) {
	w.t.Helper()
	_, err := w.hub.ReadRequest(id, part, 0, 0)
	if e := (*event.Error)(nil); !errors.As(err, &e) || e.Reason != reason {
		w.t.Errorf("part %d of %s: %v, want %s", part, id, err, reason)
	}
}

// The arguments of a request, and its result once it has ended, can be read byte for byte, however it ended. Nothing of
// them is logged.
func TestEndedRequestsCanBeRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithCapabilities(`{"tools":{},"resources":{}}`))
		s.Tool("big", func(c *fakeserver.CallContext) { c.Result(resultOf(c)) })
		s.Tool("refuse", func(c *fakeserver.CallContext) { c.Error(-32000, "no") })
		s.Handle("resources/read", func(c *fakeserver.CallContext) {
			c.Result(`{"contents":[{"uri":"file:///r","text":"of the resource"}]}`)
		})
		var log bytes.Buffer
		w := newWorldWith(t, hub.Options{StateDir: t.TempDir(),
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))},
			serversOf("s", s), "s:"+allow)
		v := w.everything()
		const small, large = `{"n":100,  "password":"hunter2"}`, `{"n":3000000}`
		one := w.call(hub.CallRequest{ID: "small", Server: "s", Tool: "big", Arguments: small}).ok(t)
		two := w.call(hub.CallRequest{ID: "large", Server: "s", Tool: "big", Arguments: large}).ok(t)
		for range 2 { // first perhaps while it is being written, then after that
			if got := w.reads("small", journal.Arguments); got != small {
				t.Errorf("arguments: %s", got)
			}
			if w.reads("small", journal.Result) != string(one.Result) || w.reads("large", journal.Result) != string(two.Result) {
				t.Error("a result is not what came")
			}
			synctest.Wait()
		}
		w.call(hub.CallRequest{ID: "none", Server: "s", Tool: "echo"}).ok(t)
		if got := w.reads("none", journal.Arguments); got != "" {
			t.Errorf("no arguments are %q", got)
		}
		refused := hub.CallRequest{ID: "refused", Server: "s", Tool: "refuse", Arguments: `{"why":1}`}
		if r := w.call(refused).ok(t); r.Error == nil {
			t.Error("the server did not refuse")
		}
		w.cannotRead("refused", journal.Result, event.ReasonNoResult)
		if got := w.reads("refused", journal.Arguments); got != `{"why":1}` {
			t.Errorf("arguments: %s", got)
		}

		hangs := w.call(hub.CallRequest{ID: "hangs", Server: "s", Tool: "hang", Arguments: `{"x":1}`})
		synctest.Wait()
		if got := w.reads("hangs", journal.Arguments); got != `{"x":1}` {
			t.Errorf("arguments while it is open: %s", got)
		}
		w.cannotRead("hangs", journal.Result, event.ReasonRequestOpen)
		v.cancel("hangs", "enough")
		hangs.cancelled(t)
		if got := w.reads("hangs", journal.Arguments); got != `{"x":1}` {
			t.Errorf("arguments: %s", got)
		}
		w.cannotRead("hangs", journal.Result, event.ReasonNoResult)
		w.cannotRead("unknown", journal.Result, event.ReasonRequestNotKept)

		read := make(chan error, 1)
		err := v.win.ReadResource(hub.CallRequest{ID: "resource", Server: "s", URI: "file:///r"},
			func(_ *hub.CallResult, err error) { read <- err })
		if err := errors.Join(err, <-read); err != nil {
			t.Fatal(err)
		}
		if got := w.reads("resource", journal.Result); !strings.Contains(got, "of the resource") {
			t.Errorf("the resource is %s", got)
		}
		if end, _ := v.terminalOf("resource").(*event.RequestFinished); end == nil || end.Result == "" {
			t.Errorf("the window was told %+v", end)
		}
		if strings.Contains(log.String(), "hunter2") {
			t.Error("the log has an argument")
		}
	})
}

// The arguments of a cancelled call can be read. The questions of servers and the answers to them are not
// kept.
func TestWhatIsNotKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w, v := withWindow(t, a.Server)
		call := w.call(hub.CallRequest{ID: "asks", Server: "s", Tool: "ask", Arguments: `{"x":1}`})
		p := v.prompt()
		v.cancel("asks", "")
		call.cancelled(t)
		if got := w.reads("asks", journal.Arguments); got != `{"x":1}` {
			t.Errorf("arguments: %s", got)
		}
		w.cannotRead(p.RequestID, journal.Arguments, event.ReasonRequestNotKept)
	})
}
