package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// declaredBy gives the client capabilities that the last request of a method declared.
func declaredBy(s *fakeserver.Server, method string) string {
	declared := ""
	for _, m := range s.Received() {
		if m.Method == method {
			declared = string(m.Param("capabilities"))
			var meta map[string]json.RawMessage
			if json.Unmarshal(m.Param("_meta"), &meta) == nil {
				declared += string(meta["io.modelcontextprotocol/clientCapabilities"])
			}
		}
	}
	return declared
}

// A legacy server is told of capabilities once, so it is connected anew when windows can show more: when idle, and
// once.
func TestLegacyServerIsConnectedAnewForCapabilities(t *testing.T) {
	t.Run("when idle", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging()
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
			synctest.Wait()
			v := w.everything()
			synctest.Wait()
			if w.starts("s") != 1 || c.over() {
				t.Fatal("a server at work was connected anew")
			}
			if _, err := v.win.Cancel("r1", ""); err != nil {
				t.Fatal(err)
			}
			c.want(t, event.CodeCancelled, event.ReasonCancelled)
			pass(time.Minute)
			if w.starts("s") != 2 {
				t.Errorf("%d starts", w.starts("s"))
			}
			if d := declaredBy(s, "initialize"); !strings.Contains(d, "sampling") || !strings.Contains(d, "elicitation") {
				t.Errorf("declared %s", d)
			}
			w.everything()
			v.win.SetCapabilities(nil, false, nil)
			v.win.SetCapabilities(allKinds, true, nil)
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
			pass(time.Minute)
			if w.starts("s") != 2 {
				t.Errorf("%d starts", w.starts("s"))
			}
		})
	})
	t.Run("a modern server is not", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging(fakeserver.WithModern())
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
			w.everything()
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
			pass(time.Minute)
			if w.starts("s") != 1 {
				t.Errorf("%d starts", w.starts("s"))
			}
		})
	})
}

// A server is told of the capabilities that its revision knows and a window can show; one of an old revision is not
// started over and over for the rest.
func TestCapabilitiesByRevision(t *testing.T) {
	for revision, want := range map[string]string{
		"2024-11-05": `{"roots":{"listChanged":true},"sampling":{}}`,
		"2025-03-26": `{"roots":{"listChanged":true},"sampling":{}}`,
		"2025-06-18": `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`,
		"2025-11-25": `{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`,
	} {
		t.Run(revision, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := hanging(fakeserver.WithRevision(revision))
				w := newWorld(t, serversOf("s", s), "s:"+allow)
				w.everything()
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				pass(time.Minute)
				if n := w.starts("s"); n != 1 {
					t.Errorf("%d starts", n)
				}
				servers, _ := w.hub.Servers()
				if servers[0].Revision != revision {
					t.Errorf("revision %s", servers[0].Revision)
				}
				// What the revision does not know is refused, whatever initialize said before it was known.
				for _, way := range ways {
					q, err := s.Request(way.method, way.params)
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					known := strings.Contains(want, strings.ToLower(strings.SplitN(way.method, "/", 2)[0])) &&
						(way.name != "url" || strings.Contains(want, "url"))
					select {
					case m := <-q.Response():
						if known {
							t.Errorf("%s was answered %s", way.name, answerOf(m))
						}
					default:
						if !known {
							t.Errorf("%s is shown", way.name)
						}
					}
				}
			})
		})
	}
	t.Run("2026-07-28", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging(fakeserver.WithModern())
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			check := func(want string) {
				t.Helper()
				w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
				want = strings.TrimSuffix(want, "}") + `,"extensions":{"io.modelcontextprotocol/tasks":{}}}`
				if got := declaredBy(s, "tools/call"); got != want {
					t.Errorf("declared %s, want %s", got, want)
				}
			}
			check(`{"roots":{}}`)
			v := w.attach(hub.Hello{Kinds: []event.PromptKind{event.PromptSampling}})
			check(`{"roots":{},"sampling":{}}`)
			v.win.SetCapabilities(allKinds, true, nil)
			check(`{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`)
			v.win.Detach(false)
			check(`{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`) // it may come back
			pass(time.Minute)
			check(`{"roots":{}}`)
		})
	})
	t.Run("windows that come later", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := hanging(fakeserver.WithRevision("2024-11-05"))
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
				t.Fatal(err)
			}
			w.everything()
			pass(time.Minute)
			w.call(hub.CallRequest{Server: "s", Tool: "echo"}).ok(t)
			pass(time.Minute)
			if n := w.starts("s"); n != 2 { // once more, for sampling
				t.Errorf("got %d starts, want 2", n)
			}
		})
	})
}
