package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// oldAsker returns a server like those that the Go SDK 1.8 makes of a tool that was written for the legacy era: it
// offers both eras, and in the modern one its tool fails when it would ask.
func oldAsker(version string) *fakeserver.Server {
	s := hanging(fakeserver.WithBothEras(), fakeserver.WithName("old", version))
	s.Tool("ask", func(c *fakeserver.CallContext) {
		if strings.Contains(string(c.Param("_meta")), "2026-07-28") {
			c.Result(`{"resultType":"complete","isError":true,"content":[{"type":"text","text":"!"},` +
				`{"type":"text","text":"\"elicitation/create\" cannot be sent while serving a request ` +
				`on protocol version 2026-07-28: return an InputRequests map"},{"type":"text","text":"and more"}]}`)
			return
		}
		c.Text("asked")
	})
	return s
}

func (w *world) ask() *pendingCall { return w.call(hub.CallRequest{Server: "s", Tool: "ask"}) }

// The failed call is not repeated, and its error names the setting era: legacy, also in the history. The server is
// connected in the legacy era once nothing is in flight, so that the next call works. This is remembered for the launch
// and the version of the server. Finding D4.
func TestServerThatAsksInTheLegacyEraAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		s := oldAsker("1")
		w := newWorldIn(t, dir, serversOf("s", s), "s:"+allow)
		busy := w.call(hub.CallRequest{ID: "busy", Server: "s", Tool: "hang"})
		synctest.Wait()
		e := w.ask().want(t, event.CodeFailedPrecondition, event.ReasonEraRefused)
		if !strings.HasSuffix(e.Message,
			`and was not repeated; the server is connected in the legacy era as soon as nothing uses it; `+
				`to have that from the start, set era: legacy in test.json:1`) {
			t.Error(e.Message)
		}
		if want := `"elicitation/create" cannot be sent while serving a request`; !strings.Contains(e.Message, want) ||
			!strings.HasPrefix(e.Meta["said"], "!\n"+want) || !strings.HasSuffix(e.Meta["said"], "\nand more") {
			t.Errorf("what the server said is lost: %s, %q", e.Message, e.Meta["said"])
		}
		if end, ok := w.history(1)[0].Body.(*event.RequestFinished); !ok || end.Err == nil ||
			end.Err.Message != e.Message {
			t.Errorf("the history says %+v, want the error of the call", end)
		}
		calls := s.Count(func(m fakeserver.Message) bool { return m.Method == "tools/call" })
		synctest.Wait()
		if info := w.server("s"); calls != 2 || info.Era != event.EraModern || w.starts("s") != 1 {
			t.Errorf("with a call in flight: %d calls, %v, %d starts", calls, info.Era, w.starts("s"))
		}
		w.hub.CancelRequest("busy", "s", "enough", event.OriginUser)
		busy.want(t, event.CodeCancelled, event.ReasonCancelled)
		synctest.Wait()
		w.ask().ok(t)
		if info := w.server("s"); info.Era != event.EraLegacy || w.starts("s") != 2 {
			t.Errorf("then: %v, %d starts", info.Era, w.starts("s"))
		}
		_ = w.hub.Close(t.Context())
		w = newWorldIn(t, dir, serversOf("s", oldAsker("1")), "s:"+allow)
		w.ask().ok(t)
		_ = w.hub.Close(t.Context())
		w = newWorldIn(t, dir, serversOf("s", oldAsker("2")), "s:"+allow) // the new version may ask correctly
		w.ask().ok(t)
		_ = w.hub.Close(t.Context())
		w = newWorldIn(t, dir, serversOf("s", oldAsker("2")), "s:"+allow)
		w.ask().want(t, event.CodeFailedPrecondition, event.ReasonEraRefused)
	})
}

// If the config sets the era, the hub does not change it.
func TestOldAskerUnderEraModern(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", oldAsker("1")), `s:"era":"modern",`+allow)
		for range 2 {
			e := w.ask().want(t, event.CodeFailedPrecondition, event.ReasonEraRefused)
			if !strings.HasSuffix(e.Message, "; set era: legacy in test.json:1") {
				t.Error(e.Message)
			}
		}
		if w.starts("s") != 1 {
			t.Errorf("%d starts", w.starts("s"))
		}
	})
}
