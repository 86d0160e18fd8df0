package peers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// sdkServers are the servers that keep a journal.
var sdkServers = map[string]func(testing.TB) *Server{"TypeScript 1": TypeScript1.HTTP, "TypeScript 2": TypeScript2.HTTP,
	"Go": GoSDK.HTTP}

func each(t *testing.T, servers map[string]func(testing.TB) *Server, test func(t *testing.T, s *Server)) {
	for name, open := range servers {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

const slowCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow","arguments":{"ms":60000,"steps":2000},"_meta":{"progressToken":"p"}}}`

// TestLegacyCancelIsSeen_nightly: a cancel notification reaches the tool, with its reason if the SDK passes the reason
// on.
func TestLegacyCancelIsSeen_nightly(t *testing.T) {
	each(t, sdkServers, func(t *testing.T, s *Server) {
		r := legacy(t, s.URL)
		call := r.post(slowCall)
		call.until(isMethod("notifications/progress"))
		r.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"changed my mind"}}`)
		cancelled := s.Wait("the cancelled tool", func(e Event) bool { return e.Is(EventCancelled, "slow") })
		if strings.HasPrefix(t.Name(), "TestLegacyCancelIsSeen_nightly/TypeScript") && cancelled.Reason != "changed my mind" {
			t.Errorf("the tool heard the reason %q", cancelled.Reason)
		}
		s.Wait("the notification", func(e Event) bool {
			return e.Event == EventRequest && e.Method == "notifications/cancelled" && string(e.ID) == "7" &&
				e.Reason == "changed my mind"
		})
	})
}

// TestLegacyDisconnectIsNoCancel_nightly: up to 2025-11-25 a tool goes on when its stream is closed. Only the journal
// shows the close.
func TestLegacyDisconnectIsNoCancel_nightly(t *testing.T) {
	each(t, sdkServers, func(t *testing.T, s *Server) {
		call := legacy(t,
			s.URL).post(
			`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow","arguments":{"ms":600,"steps":20},"_meta":{"progressToken":"p"}}}`)
		call.until(isMethod("notifications/progress"))
		call.abort(errAborted)
		s.Wait("the closed stream", func(e Event) bool { return e.Event == EventDisconnected && e.Method == "tools/call" })
		end := s.Wait("the end of the tool", func(e Event) bool {
			return e.Tool == "slow" && (e.Event == EventFinished || e.Event == EventCancelled)
		})
		if end.Event != EventFinished {
			t.Errorf("%+v", end)
		}
	})
}

// TestLegacyWithdrawal_nightly: a server withdraws its question with a notification that names the question's id.
// Either stream may carry it.
func TestLegacyWithdrawal_nightly(t *testing.T) {
	each(t, sdkServers, func(t *testing.T, s *Server) {
		r := legacy(t, s.URL)
		next := r.listen(
			`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"ask_then_withdraw","arguments":{"after":100,"reason":"too late"}}}`)
		var question, withdrawal message
		for question.Method == "" || withdrawal.Method == "" {
			switch m := next(); m.Method {
			case "elicitation/create":
				question = m
			case "notifications/cancelled":
				withdrawal = m
			}
		}
		var about struct {
			RequestID json.RawMessage `json:"requestId"`
			Reason    string
		}
		if err := json.Unmarshal(withdrawal.Params, &about); err != nil || string(about.RequestID) != string(question.ID) {
			t.Errorf("asked %s, withdrew %s, %v", question.ID, withdrawal.Params, err)
		}
		s.Wait("the withdrawal", func(e Event) bool { return e.Is(EventWithdrawn, "ask_then_withdraw") })
	})
}

// TestLegacyQuestionIsAnswered_nightly: the answer to a form is part of the tool's result.
func TestLegacyQuestionIsAnswered_nightly(t *testing.T) {
	each(t, sdkServers, func(t *testing.T, s *Server) {
		r := legacy(t, s.URL)
		next := r.listen(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ask","arguments":{}}}`)
		question := next.until(isMethod("elicitation/create"))
		r.post(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"accept","content":{"name":"Ada"}}}`)
		if got := string(next.until(isAnswerTo("9")).Result); !strings.Contains(got, "Ada") {
			t.Errorf("result: %s", got)
		}
	})
}

// TestLegacySamplingIsAnswered_nightly: the answer to a sampling request is part of the tool's result.
func TestLegacySamplingIsAnswered_nightly(t *testing.T) {
	each(t, sdkServers, func(t *testing.T, s *Server) {
		r := legacy(t, s.URL)
		next := r.listen(
			`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"sample","arguments":{"prompt":"Hi"}}}`)
		question := next.until(isMethod("sampling/createMessage"))
		r.post(`{"jsonrpc":"2.0","id":` + string(question.ID) +
			`,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"Bonjour"}}}`)
		if got := string(next.until(isAnswerTo("9")).Result); !strings.Contains(got, "Bonjour") {
			t.Errorf("result: %s", got)
		}
	})
}

// TestEverythingOverStreamableHTTP_nightly: server-everything listens at its URL, and has the tools that tests call.
func TestEverythingOverStreamableHTTP_nightly(t *testing.T) {
	s := EverythingHTTP(t)
	x := legacy(t, s.URL).post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if got := string(x.until(isAnswerTo("2")).Result); !strings.Contains(got, `"trigger-long-running-operation"`) {
		t.Errorf("tools: %s", got)
	}
}

// TestSSE_nightly: a server with the transport of 2024-11-05 answers messages that are posted to its endpoint on the
// stream.
func TestSSE_nightly(t *testing.T) {
	each(t, map[string]func(testing.TB) *Server{"everything": EverythingSSE, "TypeScript 1": TypeScript1.HTTP,
		"Go": GoSDK.HTTP},
		func(t *testing.T, s *Server) {
			r := newRaw(t, s.SSEURL)
			stream := r.send(http.MethodGet, s.SSEURL, "")
			name, data := stream.event()
			base, err1 := url.Parse(s.SSEURL)
			endpoint, err2 := url.Parse(data)
			if name != "endpoint" || err1 != nil || err2 != nil {
				t.Fatalf("event %q, %q", name, data)
			}
			if x := r.send(http.MethodPost, base.ResolveReference(endpoint).String(),
				initialize); x.status != http.StatusAccepted {
				t.Errorf("the message was answered %d", x.status)
			}
			if m := stream.next(); string(m.ID) != `"init"` || m.Result == nil {
				t.Errorf("%+v", m)
			}
		})
}
