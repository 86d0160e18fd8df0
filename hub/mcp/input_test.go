package mcp

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

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
