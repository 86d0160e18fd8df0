package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestMRTRLoadShedding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		round := 0
		f, s := modern(t, &recorder{}, func(c *fakeserver.CallContext) {
			if round++; round <= 3 {
				c.InputRequired("", fmt.Sprint("state ", round))
				return
			}
			c.Text("ok")
		})
		began := time.Now()
		got, err := s.CallTool(background, &CallRequest{Name: "t"})
		if err != nil || got.Rounds != 4 {
			t.Fatalf("%+v, %v", got, err)
		}
		if took := time.Since(began); took != 1750*time.Millisecond {
			t.Errorf("it took %v, want 250 ms + 500 ms + 1 s", took)
		}
		if last := lines(f, protocol.MethodCallTool)[3]; string(last.Param("requestState")) != `"state 3"` ||
			last.Param("inputResponses") != nil {
			t.Errorf("last round %s", last.Params)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f, s := modern(t, &recorder{}, func(c *fakeserver.CallContext) { c.InputRequired("", "busy") })
		_, err := s.CallTool(background, &CallRequest{Name: "t"})
		var wrong *ProtocolError
		if !errors.As(err, &wrong) || len(lines(f, protocol.MethodCallTool)) != 4 {
			t.Errorf("got %v after %d rounds", err, len(lines(f, protocol.MethodCallTool)))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f, s := modern(t, &recorder{}, func(c *fakeserver.CallContext) { c.InputRequired("", "busy") })
		ctx, cancel := context.WithCancelCause(background)
		out := begin(ctx, s, &CallRequest{Name: "t"})
		synctest.Wait()
		cancel(&stopped{"enough"})
		var cancelled *jsonrpc.CancelledError
		if o := finished(t, out); !errors.As(o.err, &cancelled) || cancelled.Sent ||
			len(lines(f, protocol.MethodCallTool)) != 1 {
			t.Errorf("cancelled while it waited: %v", o.err)
		}
	})
}

func TestMRTRTooManyRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{ask: accepting(`{}`)}
		f, s := modern(t, h, func(c *fakeserver.CallContext) { c.InputRequired(`{"k":`+formInput+`}`, "s") },
			func(o *Options) { o.MaxRounds = 2 })
		_, err := s.CallTool(background, &CallRequest{Name: "t"})
		var wrong *ProtocolError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "more than 2 further rounds") {
			t.Errorf("got %v", err)
		}
		if n, q := len(lines(f, protocol.MethodCallTool)), len(h.questions()); n != 3 || q != 2 {
			t.Errorf("%d requests and %d questions, want 3 and 2", n, q)
		}
	})
}

func TestMRTRUndeclaredInput(t *testing.T) {
	for _, c := range []struct {
		requests string
		served   Capabilities
	}{
		{`{"k":` + samplingInput + `}`, Capabilities{ElicitationForm: true}},
		{`{"k":` + formInput + `}`, Capabilities{ElicitationURL: true}},
		{`{"k":` + inputEntry(protocol.MethodRoots, "") + `}`, Capabilities{}},
		{`{"k":` + inputEntry("tasks/list", `{}`) + `}`, everything},
		{`{"k":` + inputEntry(protocol.MethodElicitation, `{}`) + `}`, everything},
		{`{"good":` + formInput + `,"k":7}`, everything},
		{`[]`, everything},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &recorder{ask: accepting(`{}`)}
			_, s := modern(t, h, func(call *fakeserver.CallContext) { call.InputRequired(c.requests, "") },
				func(o *Options) { o.Capabilities = func() Capabilities { return c.served } })
			_, err := s.CallTool(background, &CallRequest{Name: "t"})
			var wrong *ProtocolError
			if !errors.As(err, &wrong) || len(h.questions()) != 0 {
				t.Errorf("%s: got %v, %d questions", c.requests, err, len(h.questions()))
			}
		})
	}
}
