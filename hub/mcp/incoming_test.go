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
