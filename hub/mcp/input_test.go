package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// inputEntry is one entry of inputRequests.
func inputEntry(method, params string) string {
	if params == "" {
		return fmt.Sprintf(`{"method":%q}`, method)
	}
	return fmt.Sprintf(`{"method":%q,"params":%s}`, method, params)
}

var (
	formInput     = inputEntry(protocol.MethodElicitation, formParams)
	samplingInput = inputEntry(protocol.MethodSampling, samplingParams)
)

// modern returns a modern server with one tool, and a session with it.
func modern(t *testing.T, h *recorder, tool fakeserver.Handler,
	change ...func(*Options)) (*fakeserver.Server, *Session) {
	t.Helper()
	f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(`{"tools":{}}`))
	f.Tool("t", tool)
	return f, connect(t, f, h, change...)
}

func TestMRTRRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A state whose spelling no encoder would choose: it must come back byte for byte.
		const state = `"\u0041\/ 1.0"`
		h := &recorder{roots: []Root{{URI: "file:///w"}}, ask: func(_ context.Context, q *Question) (Answer, error) {
			if q.Kind == Sampling {
				return Answer{Action: Accept, Content: json.RawMessage(`{"role":"assistant","n":1.0}`)}, nil
			}
			return Answer{Action: Accept, Content: json.RawMessage(`{"name":"Ada"}`)}, nil
		}}
		round := 0
		f, s := modern(t, h, func(c *fakeserver.CallContext) {
			switch round++; round {
			case 1:
				c.Result(`{"resultType":"input_required","requestState":` + state + `,"inputRequests":{"who":` + formInput +
					`,"\u0072":` + inputEntry(protocol.MethodRoots, "") + `,"llm":` + samplingInput + `}}`)
			case 2:
				c.Result(`{"resultType":"input_required","inputRequests":{"again":` + formInput + `}}`)
			default:
				c.Result(`{"resultType":"complete","content":[]}`)
			}
		})
		var wires []string
		call := &CallRequest{
			Name: "t", Arguments: json.RawMessage(`{"a":1.0}`), Tag: 7,
			OnWire:     func(id jsonrpc.ID) { wires = append(wires, id.String()) },
			OnProgress: func(Progress) {},
		}
		got, err := s.CallTool(background, call)
		if err != nil {
			t.Fatal(err)
		}
		if got.Rounds != 3 || string(got.Raw) != `{"resultType":"complete","content":[]}` {
			t.Errorf("got %s after %d rounds", got.Raw, got.Rounds)
		}
		sent := lines(f, protocol.MethodCallTool)
		if len(sent) != 3 || sent[0].Param("inputResponses") != nil || sent[0].Param("requestState") != nil {
			t.Fatalf("rounds: %+v", sent)
		}
		wantResponses := `{"who":{"action":"accept","content":{"name":"Ada"}},"r":{"roots":[{"uri":"file:///w"}]},"llm":{"role":"assistant","n":1.0}}`
		if r, st := string(sent[1].Param("inputResponses")), string(sent[1].Param("requestState")); r != wantResponses ||
			st != state {
			t.Errorf("round 2: responses %s\nstate %s", r, st)
		}
		if sent[2].Param("requestState") != nil ||
			string(sent[2].Param("inputResponses")) != `{"again":{"action":"accept","content":{"name":"Ada"}}}` {
			t.Errorf("round 3: %s", sent[2].Params)
		}
		ids, tokens := map[string]bool{}, map[string]bool{}
		for i, m := range sent {
			if string(m.Param("arguments")) != `{"a":1.0}` || string(m.Param("name")) != `"t"` || string(m.ID) != wires[i] {
				t.Errorf("round %d: %s %s, wire %s", i+1, m.ID, m.Params, wires[i])
			}
			ids[string(m.ID)], tokens[string(member(m.Param("_meta"), "progressToken"))] = true, true
		}
		if len(ids) != 3 || len(tokens) != 3 {
			t.Errorf("ids %v, tokens %v", ids, tokens)
		}
		for _, q := range h.questions() {
			if q.Call != call || !q.WireID.IsZero() || q.InputKey == "" || q.Waiting {
				t.Errorf("question %+v", q)
			}
		}
		if n := len(responses(f)); n != 0 {
			t.Errorf("%d responses on the wire of a modern server", n)
		}
	})
}

// TestMRTRDeclinedElicitation: declining and dismissing are answers, and the call goes on with them.
func TestMRTRDeclinedElicitation(t *testing.T) {
	for action, want := range map[Action]string{Decline: `{"k":{"action":"decline"}}`,
		Dismiss: `{"k":{"action":"cancel"}}`} {
		synctest.Test(t, func(t *testing.T) {
			f, s := modern(t, &recorder{ask: func(context.Context, *Question) (Answer, error) {
				return Answer{Action: action}, nil
			}},
				func(c *fakeserver.CallContext) {
					if c.Param("inputResponses") == nil {
						c.InputRequired(`{"k":`+formInput+`}`, "s")
						return
					}
					c.Text("so be it")
				})
			if _, err := s.CallTool(background, &CallRequest{Name: "t"}); err != nil {
				t.Fatal(err)
			}
			if got := string(lines(f, protocol.MethodCallTool)[1].Param("inputResponses")); got != want {
				t.Errorf("sent %s, want %s", got, want)
			}
		})
	}
}

// TestMRTRSamplingRefused: a refusal has no wire form, so the whole call ends, and its other questions with it.
func TestMRTRSamplingRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 1)
		h := &recorder{}
		h.ask = func(ctx context.Context, q *Question) (Answer, error) {
			if q.Kind == Sampling {
				synctest.Wait() // the form is open by now
				return Answer{Action: Decline}, nil
			}
			return hang(causes)(ctx, q)
		}
		f, s := modern(t, h, func(c *fakeserver.CallContext) {
			c.InputRequired(`{"form":`+formInput+`,"llm":`+samplingInput+`}`, "s")
		})
		_, err := s.CallTool(background, &CallRequest{Name: "t"})
		var declined *DeclinedError
		if !errors.As(err, &declined) || declined.Kind != Sampling || declined.Action != Decline {
			t.Errorf("got %v", err)
		}
		var sibling *SiblingError
		if cause := <-causes; !errors.As(cause, &sibling) {
			t.Errorf("the form ended with %v", cause)
		}
		synctest.Wait()
		if n := len(lines(f, protocol.MethodCallTool)) + len(lines(f, "notifications/cancelled")); n != 1 ||
			s.InFlight() != 0 {
			t.Errorf("%d messages, %d calls", n, s.InFlight())
		}
	})
}

// TestMRTRCancelBetweenRounds: nothing is in flight, so nothing is sent; the questions end with the cause.
func TestMRTRCancelBetweenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 1)
		f, s := modern(t, &recorder{ask: hang(causes)}, func(c *fakeserver.CallContext) {
			c.InputRequired(`{"k":`+formInput+`}`, "s")
		})
		ctx, cancel := context.WithCancelCause(background)
		out := begin(ctx, s, &CallRequest{Name: "t"})
		synctest.Wait()
		why := &stopped{"enough"}
		cancel(why)
		o := finished(t, out)
		var cancelled *jsonrpc.CancelledError
		if !errors.As(o.err, &cancelled) || cancelled.Sent || !errors.Is(o.err, why) {
			t.Errorf("got %v", o.err)
		}
		if cause := <-causes; cause != error(why) {
			t.Errorf("the question ended with %v", cause)
		}
		if n := len(lines(f, protocol.MethodCallTool)) + len(lines(f, "notifications/cancelled")); n != 1 {
			t.Errorf("%d messages on the wire, want the first round alone", n)
		}
	})
}

// TestMRTRCancelOnTheWire: a cancel during the second round names the second round's id.
func TestMRTRCancelOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := modern(t, &recorder{ask: accepting(`{}`)}, func(c *fakeserver.CallContext) {
			if c.Param("inputResponses") == nil {
				c.InputRequired(`{"k":`+formInput+`}`, "s")
				return
			}
			c.Hang()
		})
		ctx, cancel := context.WithCancelCause(background)
		out := begin(ctx, s, &CallRequest{Name: "t"})
		synctest.Wait()
		cancel(&stopped{"enough"})
		if o := finished(t, out); o.err == nil {
			t.Error("no error")
		}
		sent, cancels := lines(f, protocol.MethodCallTool), lines(f, "notifications/cancelled")
		if len(sent) != 2 || len(cancels) != 1 || string(cancels[0].Param("requestId")) != string(sent[1].ID) ||
			string(cancels[0].Param("reason")) != `"enough"` {
			t.Errorf("calls %+v, cancels %+v", sent, cancels)
		}
	})
}

// TestMRTRServerDies: a question between two rounds ends with the connection.
func TestMRTRServerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 1)
		f, s := modern(t, &recorder{ask: hang(causes)}, func(c *fakeserver.CallContext) {
			c.InputRequired(`{"k":`+formInput+`}`, "s")
		})
		out := begin(background, s, &CallRequest{Name: "t"})
		synctest.Wait()
		f.Disconnect()
		if o := finished(t, out); !errors.Is(o.err, jsonrpc.ErrClosed) {
			t.Errorf("got %v", o.err)
		}
		if cause := <-causes; !errors.Is(cause, jsonrpc.ErrClosed) {
			t.Errorf("the question ended with %v", cause)
		}
	})
}

func TestMRTRHandlerTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trouble := errors.New("the page is gone")
		_, s := modern(t, &recorder{ask: func(context.Context, *Question) (Answer, error) { return Answer{}, trouble }},
			func(c *fakeserver.CallContext) { c.InputRequired(`{"k":`+formInput+`}`, "s") })
		if _, err := s.CallTool(background, &CallRequest{Name: "t"}); !errors.Is(err, trouble) {
			t.Errorf("got %v", err)
		}
	})
}
