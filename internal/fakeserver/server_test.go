package fakeserver_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// in runs body in a synctest bubble with a new server and a client.
func in(t *testing.T, s func() *fakeserver.Server, body func(t *testing.T, s *fakeserver.Server, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := s()
		c, end := dial(t, srv)
		defer end()
		body(t, srv, c)
	})
}

func with(opts ...fakeserver.Option) func() *fakeserver.Server {
	return func() *fakeserver.Server { return fakeserver.New(opts...) }
}

func TestListToolsPages(t *testing.T) {
	in(t, with(fakeserver.WithPageSize(2)), func(t *testing.T, s *fakeserver.Server, c *client) {
		for _, name := range []string{"a", "b", "c"} {
			s.Tool(name, func(*fakeserver.CallContext) {})
		}
		c.initialize()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		c.want(
			`{"jsonrpc":"2.0","id":1,"result":{"nextCursor":"page:2","tools":[{"inputSchema":{"type":"object"},"name":"a"},{"inputSchema":{"type":"object"},"name":"b"}]}}`)
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"page:2"}}`)
		c.want(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"inputSchema":{"type":"object"},"name":"c"}]}}`)
		c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":""}}`)
		c.wantPart(`"id":3`, `-32602`)
		s.RemoveTool("a")
		if err := s.NotifyToolsChanged(); err != nil {
			t.Fatal(err)
		}
		c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	})
}

func TestCallAnswersProgressAndResultInOrder(t *testing.T) {
	in(t, with(), func(t *testing.T, s *fakeserver.Server, c *client) {
		s.Tool("work", func(c *fakeserver.CallContext) {
			c.Progress(1, 2, "half")
			c.Log("info", "log line")
			c.Result(`{"content":[], "n": 1.0}`)
			c.Result(`{"second":true}`) // a double answer is possible
		})
		c.initialize()
		c.send(`{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":"p"}}}`)
		c.want(
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"half","progress":1,"progressToken":"p","total":2}}`)
		c.wantPart(`notifications/message`, `"data":"log line"`)
		c.want(`{"jsonrpc":"2.0","id":1.0,"result":{"content":[], "n": 1.0}}`)
		c.want(`{"jsonrpc":"2.0","id":1.0,"result":{"second":true}}`)
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"nope"}}`)
		c.wantPart(`"id":2`, `-32602`)
	})
}

func TestCancelReachesTheCallItNames(t *testing.T) {
	in(t, with(), func(t *testing.T, s *fakeserver.Server, c *client) {
		reasons := make(chan string, 1)
		causes := make(chan error, 1)
		s.Tool("hang", func(c *fakeserver.CallContext) {
			causes <- c.Hang()
			reasons <- <-c.Cancelled()
			c.Text("late") // a late answer is possible
		})
		c.initialize()
		c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}`)
		// The string "7" is not the number 7, and a malformed cancel names no request.
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7","reason":"other"}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
		c.quiet()
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}`)
		c.wantPart(`"id":7`, `late`)
		var cancelled *fakeserver.CancelledError
		if err := <-causes; !errors.As(err, &cancelled) || cancelled.Reason != "enough" {
			t.Errorf("Hang returned %v, want the cancel with its reason", err)
		}
		if got := <-reasons; got != "enough" {
			t.Errorf("reason %q, want enough", got)
		}
		received(t, s, fakeserver.CancelOf(raw(`7`))) // a cancel is acted on before it is recorded
		if n := s.Count(fakeserver.CancelOf(raw(`7`))); n != 1 {
			t.Errorf("%d cancels of 7 recorded, want 1", n)
		}
	})
}

func TestDuplicatePendingIDIsRefused(t *testing.T) {
	in(t, with(), func(t *testing.T, s *fakeserver.Server, c *client) {
		s.Tool("hang", func(c *fakeserver.CallContext) { _ = c.Hang(); c.Result(`{}`) })
		c.initialize()
		c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}`,
			`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		c.wantPart(`"id":7`, `-32600`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		c.want(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	})
}

func TestServerAsksAndWithdraws(t *testing.T) {
	in(t, with(), func(t *testing.T, s *fakeserver.Server, c *client) {
		answers := make(chan fakeserver.Message, 1)
		s.Tool("ask", func(c *fakeserver.CallContext) {
			answers <- <-c.Request("elicitation/create", `{"message":"name?"}`).Response()
			c.Request("elicitation/create", `{"message":"again?"}`).Cancel("not needed")
			c.Text("done")
		})
		c.initialize()
		c.send(`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"ask"}}`)
		c.want(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"name?"}}`)
		c.send(`{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}`)
		c.want(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"again?"}}`)
		c.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"not needed","requestId":1}}`)
		c.wantPart(`"id":0`, `done`)
		if got := <-answers; string(got.Result) != `{"action":"decline"}` {
			t.Errorf("the tool got %s", got.Raw)
		}
		c.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"too late"}}`)
		if m := received(t, s, fakeserver.ResponseTo(raw(`1`))); m.Error == nil || m.Error.Code != -1 {
			t.Errorf("recorded %+v, want the late error", m)
		}
	})
}

func TestOutRequestClosesWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeserver.New()
		c, end := dial(t, s)
		c.initialize()
		received(t, s, fakeserver.Method("notifications/initialized"))
		o, err := s.Request("roots/list", "")
		if err != nil {
			t.Fatal(err)
		}
		c.want(`{"jsonrpc":"2.0","id":0,"method":"roots/list"}`)
		end()
		if m, ok := <-o.Response(); ok {
			t.Errorf("response %+v from nowhere", m)
		}
		if err := s.Send("x"); !errors.Is(err, fakeserver.ErrNotConnected) {
			t.Errorf("Send after the end: %v", err)
		}
	})
}

func TestRecordsEverythingInOrder(t *testing.T) {
	in(t, with(), func(t *testing.T, s *fakeserver.Server, c *client) {
		c.initialize()
		c.send(`no json`, `[]`,
			`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
			`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}}`)
		c.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		var got []string
		for _, m := range s.Received()[2:] {
			if m.Malformed {
				got = append(got, "malformed "+m.Raw)
			} else {
				got = append(got, m.Method)
			}
		}
		want := []string{"malformed no json", "malformed []", "notifications/roots/list_changed", "logging/setLevel"}
		if len(got) != len(want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("message %d is %q, want %q", i, got[i], want[i])
			}
		}
		if s.LogLevel() != "warning" {
			t.Errorf("level %q", s.LogLevel())
		}
	})
}

func TestSendWritesRawBytes(t *testing.T) {
	in(t, with(), func(t *testing.T, s *fakeserver.Server, c *client) {
		c.initialize()
		if err := s.Send("{\"half\":"); err != nil {
			t.Fatal(err)
		}
		if err := s.Send("garbage \r\n"); err != nil {
			t.Fatal(err)
		}
		c.want("{\"half\":garbage ")
	})
}
