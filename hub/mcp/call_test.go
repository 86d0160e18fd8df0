package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

var background = context.Background()

func TestResultVerbatim(t *testing.T) {
	const raw = `{ "content":[{"type":"hologram","x":1.0}],"structuredContent":{"n":9007199254740993,"e":1E400},"_meta":{"a/b":[null]},"unknown":{"k":"\u00e9"},"isError":true }`
	for _, option := range []fakeserver.Option{fakeserver.WithRevision(Revision20251125), fakeserver.WithModern()} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(option)
			f.Tool("t", func(c *fakeserver.CallContext) { c.Result(raw) })
			s := connect(t, f, &recorder{})
			got, err := s.CallTool(background, &CallRequest{Name: "t"})
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Raw) != raw || !got.IsError || got.Rounds != 1 {
				t.Errorf("got %s, isError %t, %d rounds", got.Raw, got.IsError, got.Rounds)
			}
		})
	}
}

// TestCallParams: the bytes of a call in both eras. Arguments keep their spelling, except that a text with line breaks
// loses the white space between its tokens.
func TestCallParams(t *testing.T) {
	call := &CallRequest{
		Name:      "t\n",
		Arguments: json.RawMessage("{\"n\": 1.0,\n \"s\":\"a\\nb\"}"),
		Meta: map[string]json.RawMessage{"traceparent": json.RawMessage(`"00-1"`), "progressToken": json.RawMessage(`7`),
			"b": json.RawMessage(`[1]`)},
	}
	for _, c := range []struct {
		option   fakeserver.Option
		progress bool
		want     string
	}{
		{fakeserver.WithRevision(Revision20251125), false,
			`{"name":"t\n","arguments":{"n":1.0,"s":"a\nb"},"_meta":{"b":[1],"traceparent":"00-1"}}`},
		{fakeserver.WithRevision(Revision20251125), true,
			`{"name":"t\n","arguments":{"n":1.0,"s":"a\nb"},"_meta":{"b":[1],"traceparent":"00-1","progressToken":"p1"}}`},
		{fakeserver.WithModern(), true,
			`{"name":"t\n","arguments":{"n":1.0,"s":"a\nb"},"_meta":{"b":[1],"traceparent":"00-1","progressToken":"p1",` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"hub","title":"Hub","version":"1"},` +
				`"io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(c.option)
			f.Tool("t\n", func(c *fakeserver.CallContext) { c.Text("ok") })
			s := connect(t, f, &recorder{})
			call := *call
			if c.progress {
				call.OnProgress = func(Progress) {}
			}
			if _, err := s.CallTool(background, &call); err != nil {
				t.Fatal(err)
			}
			if got := string(lines(f, protocol.MethodCallTool)[0].Params); got != c.want {
				t.Errorf("sent %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestBadArgumentsSendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		s := connect(t, f, &recorder{})
		for _, c := range []*CallRequest{
			{Name: "t", Arguments: json.RawMessage(`[]`)},
			{Name: "t", Arguments: json.RawMessage(``)},
			{Name: "t", Arguments: json.RawMessage(`{`)},
			{Name: "t", Arguments: json.RawMessage(`{},"name":"other"`)},
			{Name: "t", Meta: map[string]json.RawMessage{"k": json.RawMessage(`1,"l":2`)}},
		} {
			var bad *ArgumentsError
			if _, err := s.CallTool(background, c); !errors.As(err, &bad) {
				t.Errorf("%s %s: got %v", c.Arguments, c.Meta, err)
			}
		}
		synctest.Wait()
		if n := len(lines(f, protocol.MethodCallTool)); n != 0 {
			t.Errorf("%d calls were sent", n)
		}
	})
}

func TestCancelCarriesReason(t *testing.T) {
	for _, option := range []fakeserver.Option{fakeserver.WithRevision(Revision20241105), fakeserver.WithModern()} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(option)
			heard := make(chan string, 1)
			f.Tool("t", func(c *fakeserver.CallContext) {
				heard <- <-c.Cancelled()
				c.Text("late")
			})
			s := connect(t, f, &recorder{})
			ctx, cancel := context.WithCancelCause(background)
			out := begin(ctx, s, &CallRequest{Name: "t"})
			synctest.Wait()
			cause := &stopped{"the user pressed Stop"}
			cancel(cause)
			o := finished(t, out)
			var cancelled *jsonrpc.CancelledError
			if !errors.As(o.err, &cancelled) || !errors.Is(o.err, cause) || !cancelled.Sent {
				t.Errorf("the call got %v", o.err)
			}
			if reason := <-heard; reason != "the user pressed Stop" {
				t.Errorf("the server heard %q", reason)
			}
			synctest.Wait()
			if n := len(lines(f, "notifications/cancelled")); n != 1 {
				t.Errorf("%d cancels", n)
			}
			if s.Stats().LateResponses != 1 || s.InFlight() != 0 || len(s.Pending()) != 0 {
				t.Errorf("left behind: %+v, %d calls, %v", s.Stats(), s.InFlight(), s.Pending())
			}
		})
	}
}

func TestCancelledBeforeItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		s := connect(t, f, &recorder{})
		ctx, cancel := context.WithCancelCause(background)
		cancel(&stopped{"early"})
		_, err := s.CallTool(ctx, &CallRequest{Name: "t"})
		var cancelled *jsonrpc.CancelledError
		if !errors.As(err, &cancelled) || cancelled.Sent {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if n := len(lines(f, protocol.MethodCallTool)) + len(lines(f, "notifications/cancelled")); n != 0 {
			t.Errorf("%d messages on the wire", n)
		}
	})
}

func TestUnknownResultType(t *testing.T) {
	for raw, want := range map[string]string{
		`{"resultType":"task","taskId":"1"}`: `no status`,
		`{"resultType":"hologram"}`:          `unknown resultType "\"hologram\""`,
		`{"resultType":7}`:                   `unknown resultType "7"`,
		`[1]`:                                "no JSON object",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(fakeserver.WithModern())
			f.Tool("t", func(c *fakeserver.CallContext) { c.Result(raw) })
			s := connect(t, f, &recorder{})
			_, err := s.CallTool(background, &CallRequest{Name: "t"})
			var wrong *ProtocolError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q in it", raw, err, want)
			}
		})
	}
	// Absent means complete; and legacy revisions know no resultType.
	for _, option := range []fakeserver.Option{fakeserver.WithModern(), fakeserver.WithRevision(Revision20250618)} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(option)
			f.Tool("t", func(c *fakeserver.CallContext) { c.Result(`{"content":[]}`) })
			f.Tool("typed", func(c *fakeserver.CallContext) { c.Result(`{"content":[],"resultType":"input_required"}`) })
			s := connect(t, f, &recorder{})
			if _, err := s.CallTool(background, &CallRequest{Name: "t"}); err != nil {
				t.Error(err)
			}
			if s.Era() == Legacy {
				if _, err := s.CallTool(background, &CallRequest{Name: "typed"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestServerErrorIsRelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) { c.ErrorData(-32602, "bad", `{"k":1.0}`) })
		s := connect(t, f, &recorder{})
		_, err := s.CallTool(background, &CallRequest{Name: "t"})
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != -32602 || e.Message != "bad" || string(e.Data) != `{"k":1.0}` {
			t.Errorf("got %#v", err)
		}
	})
}
