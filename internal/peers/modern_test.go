package peers

import (
	"encoding/json"
	"strings"
	"testing"
)

var modernServers = map[string]func(testing.TB) *Server{"TypeScript 2": TypeScript2.HTTP, "Go": GoSDK.HTTP}

// TestModernDiscover_nightly: the same URL also serves the modern era.
func TestModernDiscover_nightly(t *testing.T) {
	each(t, modernServers, func(t *testing.T, s *Server) {
		m := modern(t, s.URL, "1", "server/discover", "", "").next()
		if !strings.Contains(string(m.Result), "2026-07-28") {
			t.Errorf("%+v: %s", m, m.Result)
		}
	})
}

// TestModernDisconnectCancels_nightly: closing the exchange cancels the call.
func TestModernDisconnectCancels_nightly(t *testing.T) {
	each(t, modernServers, func(t *testing.T, s *Server) {
		call := modern(t, s.URL, "7", "tools/call", "slow", `"name":"slow","arguments":{"ms":60000,"steps":2000}`)
		call.until(isMethod("notifications/progress"))
		call.abort(errAborted)
		s.Wait("the cancelled tool", func(e Event) bool { return e.Is(EventCancelled, "slow") })
		s.Wait("the closed stream", func(e Event) bool {
			return e.Event == EventDisconnected && e.Method == "tools/call" && string(e.ID) == "7"
		})
		for _, e := range s.Events() {
			if e.Method == "notifications/cancelled" || e.Session != "" {
				t.Errorf("a modern exchange has no %+v", e)
			}
		}
	})
}

// TestModernQuestion_nightly: the server asks with a result, and the next round has the answer.
func TestModernQuestion_nightly(t *testing.T) {
	questions := map[string]struct{ method, answer, want string }{
		"ask": {"elicitation/create", `{"action":"accept","content":{"name":"Ada"}}`, "Ada"},
		"sample": {"sampling/createMessage", `{"role":"assistant","model":"m","content":{"type":"text","text":"Bonjour"}}`,
			"Bonjour"},
	}
	each(t, modernServers, func(t *testing.T, s *Server) {
		for tool, q := range questions {
			var first struct {
				ResultType    string
				InputRequests map[string]struct{ Method string }
				RequestState  string
			}
			m := modern(t, s.URL, "1", "tools/call", tool, `"name":"`+tool+`","arguments":{}`).until(isAnswerTo("1"))
			if err := json.Unmarshal(m.Result, &first); err != nil || first.ResultType != "input_required" ||
				first.InputRequests["answer"].Method != q.method {
				t.Fatalf("%s: %s, %+v, %v", tool, m.Result, m.Error, err)
			}
			state, err := json.Marshal(first.RequestState)
			if err != nil {
				t.Fatal(err)
			}
			m = modern(t, s.URL, "2", "tools/call", tool,
				`"name":"`+tool+`","arguments":{},"inputResponses":{"answer":`+q.answer+`},"requestState":`+
					string(state)).until(isAnswerTo("2"))
			if !strings.Contains(string(m.Result), q.want) {
				t.Errorf("%s: %s, %+v", tool, m.Result, m.Error)
			}
		}
	})
}
