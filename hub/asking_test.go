package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// The questions of servers: the methods, the params of each kind, and the content of a Yes to it.
const (
	sampling    = "sampling/createMessage"
	elicitation = "elicitation/create"

	sampleParams = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":5,"systemPrompt":"be brief"}`
	sampleYes    = `{"role":"assistant","content":{"type":"text","text":"ho"},"model":"m-1"}`
	formParams   = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`
	formYes      = `{"name":"Ada"}`
	urlParams    = `{"mode":"url","message":"Sign in","url":"https://login.example.com:8443/a?b=c","elicitationId":"e1"}`
)

// ways are the kinds of questions of a legacy server.
var ways = []struct {
	name, method, params, yes string
	kind                      event.PromptKind
}{
	{"sampling", sampling, sampleParams, sampleYes, event.PromptSampling},
	{"form", elicitation, formParams, formYes, event.PromptElicitationForm},
	{"url", elicitation, urlParams, "", event.PromptElicitationURL},
}

// asker is a legacy server whose tool "ask" asks the client, and returns the answer as its result. It goes on without
// an answer when finish is closed or sent a value. A cancel of the call ends it; with withdraws, it then withdraws the
// question.
type asker struct {
	*fakeserver.Server
	asked     chan *fakeserver.OutRequest
	finish    chan struct{}
	withdraws bool // set before the first call
}

func asking(method, params string, opts ...fakeserver.Option) *asker {
	a := &asker{Server: hanging(opts...), asked: make(chan *fakeserver.OutRequest, 100), finish: make(chan struct{})}
	a.Tool("ask", func(c *fakeserver.CallContext) {
		q := c.Request(method, params)
		select {
		case a.asked <- q:
		default: // the test does not read asked
		}
		select {
		case m, ok := <-q.Response():
			if ok {
				c.Text(answerOf(m))
			}
		case <-a.finish:
			c.Text("went on")
		case <-c.Cancelled():
			if a.withdraws {
				q.Cancel("the call was cancelled")
			}
		case <-c.Context().Done():
		}
	})
	return a
}

// answerOf returns the result of a response as JSON text, or its error.
func answerOf(m fakeserver.Message) string {
	if m.Error != nil {
		return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	return string(m.Result)
}

// textOf returns the text of a tool's result.
func textOf(t *testing.T, r *hub.CallResult) string {
	t.Helper()
	var result struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(r.Result, &result); err != nil || len(result.Content) != 1 {
		t.Fatalf("no tool result with one text: %s (%v)", r.Result, err)
	}
	return result.Content[0].Text
}

// wantClosed checks which prompt closed last in v, and how.
func (v *view) wantClosed(id string, cause event.PromptCause, origin event.Origin, reason string) {
	v.t.Helper()
	c := last[*event.PromptClosed](v)
	if c.PromptID != id || c.Cause != cause || c.Origin != origin || c.Reason != reason {
		v.t.Errorf("promptClosed says %s %v %v %q; want %s %v %v %q", c.PromptID, c.Cause, c.Origin, c.Reason, id, cause,
			origin, reason)
	}
}

// noPrompt checks that no prompt is open, once nothing moves.
func (v *view) noPrompt() {
	v.t.Helper()
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, open := range v.open {
		if open {
			v.t.Errorf("prompt %s is open", id)
		}
	}
}

// wantReason checks the reason of an error that the hub made.
func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	if e := event.AsError(err); e == nil || e.Reason != reason {
		t.Errorf("error %v; want reason %s", err, reason)
	}
}

// state returns the state of a request, or "" if it is not open, once nothing moves.
func (w *world) state(id string) string {
	synctest.Wait()
	for _, r := range w.hub.Requests("") {
		if r.ID == id {
			return r.State.String()
		}
	}
	return ""
}

// rounds returns a modern server whose tool "ask" wants n answers, one in each round, and returns the last one as its
// result. A call with {"hang":true} hangs in what would be the last round.
func rounds(n int) *fakeserver.Server {
	s := hanging(fakeserver.WithModern())
	s.Tool("ask", func(c *fakeserver.CallContext) {
		round := 0
		if state := c.Param("requestState"); state != nil {
			fmt.Sscanf(string(state), `"after %d"`, &round)
		}
		switch {
		case round < n:
			c.InputRequired(fmt.Sprintf(`{"q%d":{"method":"elicitation/create","params":%s}}`, round+1, formParams),
				fmt.Sprintf("after %d", round+1))
		case strings.Contains(string(c.Arguments()), "hang"):
			_ = c.Hang()
		default:
			c.Text(string(c.Param("inputResponses")))
		}
	})
	return s
}
