package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const (
	formParams     = `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`
	urlParams      = `{"mode":"url","message":"Sign in","url":"https://example.com/x","elicitationId":"e1"}`
	samplingParams = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":10,"systemPrompt":"be short"}`
)

// ask sends a request of the server and returns the client's response, "" when there is none.
func ask(t *testing.T, f *fakeserver.Server, method, params string) string {
	t.Helper()
	r, err := f.Request(method, params)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	select {
	case m := <-r.Response():
		return m.Raw
	default:
		return ""
	}
}

func TestQuestionsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer Answer
		h := &recorder{
			ask:   func(context.Context, *Question) (Answer, error) { return answer, nil },
			roots: []Root{{URI: "file:///w", Name: "w"}},
		}
		f := fakeserver.New(fakeserver.WithFirstID(0))
		connect(t, f, h)
		for i, c := range []struct {
			method, params string
			answer         Answer
			want           string
		}{
			{protocol.MethodPing, ``, Answer{}, `"result":{}`},
			{protocol.MethodRoots, ``, Answer{}, `"result":{"roots":[{"uri":"file:///w","name":"w"}]}`},
			{protocol.MethodElicitation, formParams, Answer{Action: Accept, Content: json.RawMessage("{\"n\":1.0,\n\"e\":1E2}")},
				`"result":{"action":"accept","content":{"n":1.0,"e":1E2}}`},
			{protocol.MethodElicitation, formParams, Answer{Action: Decline}, `"result":{"action":"decline"}`},
			{protocol.MethodElicitation, formParams, Answer{Action: Dismiss, Content: json.RawMessage(`{"n":1}`)},
				`"result":{"action":"cancel"}`},
			{protocol.MethodElicitation, `{"message":"Sure?"}`, Answer{Action: Accept, Content: json.RawMessage(`{}`)},
				`"result":{"action":"accept","content":{}}`},
			{protocol.MethodElicitation, urlParams, Answer{Action: Accept, Content: json.RawMessage(`{"n":1}`)}, `"result":{"action":"accept"}`},
			{protocol.MethodSampling, samplingParams, Answer{Action: Accept, Content: json.RawMessage(`{"role":"assistant","x":1.0}`)},
				`"result":{"role":"assistant","x":1.0}`},
			{protocol.MethodSampling, samplingParams, Answer{Action: Decline},
				`"error":{"code":-1,"message":"the sampling request was declined"}`},
			{protocol.MethodSampling, samplingParams, Answer{Action: Dismiss},
				`"error":{"code":-1,"message":"the sampling request was dismissed"}`},
			{protocol.MethodSampling, samplingParams, Answer{Action: Dismiss, Unasked: true},
				`"error":{"code":-1,"message":"nobody could be asked"}`},
			{protocol.MethodSampling, samplingParams, Answer{Action: Accept, Content: json.RawMessage(`"x"`)}, `"error":{"code":-32603,`},
			{protocol.MethodElicitation, formParams, Answer{}, `"error":{"code":-32603,`},
		} {
			answer = c.answer
			if got := ask(t, f, c.method, c.params); !strings.Contains(got, c.want) {
				t.Errorf("%d %s: answered %s, want %s in it", i, c.method, got, c.want)
			}
		}
		q := h.questions()[4]
		want := &Question{Kind: ElicitationURL, WireID: q.WireID, Payload: json.RawMessage(urlParams), Message: "Sign in",
			URL:     "https://example.com/x",
			URLHost: "example.com", ElicitationID: "e1"}
		if diff := cmp.Diff(want, q, cmp.Comparer(func(a, b jsonrpc.ID) bool {
			return a == b
		})); diff != "" || q.WireID.String() != "6" {
			t.Errorf("question %s (-want +got):\n%s", q.WireID, diff)
		}
		if h.questions()[0].Schema == nil || h.questions()[3].Schema == nil || h.questions()[5].Message != "be short" {
			t.Errorf("schema and system prompt are not read: %+v", h.questions())
		}
	})
}

func TestNoRootsIsAnEmptyList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		connect(t, f, &recorder{})
		if got := ask(t, f, protocol.MethodRoots, ``); !strings.Contains(got, `"result":{"roots":[]}`) {
			t.Errorf("answered %s", got)
		}
	})
}

func TestHandlerTroubleIsInternal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		connect(t, f, &recorder{ask: func(context.Context, *Question) (Answer, error) {
			return Answer{}, errors.New("secret path")
		}})
		got := ask(t, f, protocol.MethodElicitation, formParams)
		if !strings.Contains(got, `"code":-32603`) || strings.Contains(got, "secret") {
			t.Errorf("answered %s", got)
		}
	})
}

// TestServerWithdrawsElicitation: the question ends with the server's reason, nothing is written for it, whatever the
// handler returns, and the session goes on.
func TestServerWithdrawsElicitation(t *testing.T) {
	for _, c := range [][2]string{{protocol.MethodElicitation, formParams}, {protocol.MethodElicitation, urlParams},
		{protocol.MethodSampling, samplingParams}} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New()
			causes := make(chan error, 1)
			s := connect(t, f, &recorder{ask: hang(causes)})
			r, err := f.Request(c[0], c[1])
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if n := len(s.Pending()); n != 1 {
				t.Fatalf("%d pending", n)
			}
			r.Cancel("changed my mind")
			var withdrawn *jsonrpc.WithdrawnError
			if cause := <-causes; !errors.As(cause, &withdrawn) || withdrawn.Reason != "changed my mind" {
				t.Errorf("the question ended with %v", cause)
			}
			r.Cancel("twice")
			if got := ask(t, f, protocol.MethodPing, ``); !strings.Contains(got, `"result":{}`) {
				t.Errorf("ping afterwards: %s", got)
			}
			if n := f.Count(fakeserver.ResponseTo(r.ID)); n != 0 {
				t.Errorf("%d responses to a withdrawn request", n)
			}
			if len(s.Pending()) != 0 {
				t.Errorf("left behind: %v", s.Pending())
			}
		})
	}
}

func TestPingAnsweredDuringPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) { c.Text("ok") })
		answer := make(chan Answer)
		s := connect(t, f, &recorder{ask: func(context.Context, *Question) (Answer, error) { return <-answer, nil }})
		open, err := f.Request(protocol.MethodElicitation, formParams)
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(t, f, protocol.MethodPing, ``); !strings.Contains(got, `"result":{}`) {
			t.Errorf("ping: %s", got)
		}
		if _, err := s.CallTool(background, &CallRequest{Name: "t"}); err != nil {
			t.Errorf("call: %v", err)
		}
		answer <- Answer{Action: Accept}
		if m := <-open.Response(); string(m.Result) != `{"action":"accept"}` {
			t.Errorf("the prompt was answered %s", m.Raw)
		}
	})
}

// TestQuestionNamesTheOnlyCall: with one call open, a legacy question belongs to it; with none or two, to no call.
func TestQuestionNamesTheOnlyCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) { c.Hang() })
		h := &recorder{ask: accepting(`{}`)}
		s := connect(t, f, h)
		ctx, cancel := context.WithCancelCause(background)
		defer cancel(nil)
		calls := []*CallRequest{{Name: "t", Tag: "first"}, {Name: "t", Tag: "second"}}
		ask(t, f, protocol.MethodElicitation, formParams)
		for _, c := range calls {
			begin(ctx, s, c)
			synctest.Wait()
			ask(t, f, protocol.MethodElicitation, formParams)
		}
		for i, want := range []*CallRequest{nil, calls[0], nil} {
			if got := h.questions()[i].Call; got != want {
				t.Errorf("question %d: call %+v, want %+v", i, got, want)
			}
		}
	})
}

func TestModernServerRequestDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		f.Tool("t", func(c *fakeserver.CallContext) { c.Text("ok") })
		h := &recorder{ask: accepting(`{}`)}
		s := connect(t, f, h)
		for _, c := range [][2]string{{protocol.MethodPing, ``}, {protocol.MethodElicitation, formParams},
			{"unknown/method", ``}} {
			if got := ask(t, f, c[0], c[1]); got != "" {
				t.Errorf("%s was answered: %s", c[0], got)
			}
		}
		if n := s.Stats().DroppedRequests; n != 3 || len(h.questions()) != 0 || len(responses(f)) != 0 {
			t.Errorf("%d dropped, %d questions, responses %v", n, len(h.questions()), responses(f))
		}
		if _, err := s.CallTool(background, &CallRequest{Name: "t"}); err != nil {
			t.Errorf("the session does not go on: %v", err)
		}
	})
}

// TestBatches: a batch is accepted under 2025-03-26 and is a bad line under every other revision.
func TestBatches(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},{"jsonrpc":"2.0","id":"b","method":"ping"}]`
	for revision, accepted := range map[string]bool{
		Revision20241105: false, Revision20250326: true, Revision20250618: false, Revision20251125: false,
		Revision20260728: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			option := fakeserver.WithRevision(revision)
			if revision == Revision20260728 {
				option = fakeserver.WithModern()
			}
			f := fakeserver.New(option)
			h := &recorder{}
			s := connect(t, f, h)
			synctest.Wait()
			before := h.changed()
			f.SendLine(batch)
			synctest.Wait()
			answered := strings.Contains(strings.Join(raws(f), "\n"), `"id":"b","result":{}`)
			if answered != accepted || (h.changed() > before) != accepted || (s.Stats().BadLines == 0) != accepted {
				t.Errorf("%s: answered %t, changes %d, bad lines %d", revision, answered, h.changed()-before, s.Stats().BadLines)
			}
		})
	}
}

func raws(f *fakeserver.Server) []string {
	var out []string
	for _, m := range f.Received() {
		out = append(out, m.Raw)
	}
	return out
}

func TestNotificationsReachTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		h := &recorder{}
		connect(t, f, h)
		f.NotifyToolsChanged()
		f.Notify("notifications/x\u202e", ``)
		f.Notify(protocol.MethodElicitationComplete, `{"elicitationId":"nobody's"}`)
		synctest.Wait()
		if h.changed() != 1 {
			t.Errorf("%d changes", h.changed())
		}
	})
}
