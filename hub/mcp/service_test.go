package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestLogging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		h := &recorder{}
		s := connect(t, f, h)
		if err := s.SetLogLevel(background, "warning"); err != nil || f.LogLevel() != "warning" {
			t.Errorf("%v, the server has %q", err, f.LogLevel())
		}
		var bad *ArgumentsError
		if err := s.SetLogLevel(background, "loud"); !errors.As(err, &bad) {
			t.Errorf("unknown level: %v", err)
		}
		f.Notify(protocol.MethodMessage, `{"level":"error","logger":"db","data":{"n":1.0}}`)
		f.Notify(protocol.MethodMessage, `[]`)
		synctest.Wait()
		if diff := cmp.Diff([]LogMessage{{Level: "error", Logger: "db", Data: json.RawMessage(`{"n":1.0}`)}},
			h.messages()); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}

		silent := connect(t, fakeserver.New(fakeserver.WithCapabilities(`{}`)), &recorder{})
		if err := silent.SetLogLevel(background, "info"); !errors.As(err, new(*CapabilityError)) {
			t.Errorf("a server without logging: %v", err)
		}
		if tools, err := silent.ListTools(background); tools != nil || err != nil {
			t.Errorf("a server without tools: %v, %v", tools, err)
		}
	})
}

// TestModernLogLevel: from SetLogLevel on each request carries the level; SetLogLevel itself sends nothing.
func TestModernLogLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		f.Tool("t", func(c *fakeserver.CallContext) { c.Text("ok") })
		s := connect(t, f, &recorder{})
		call := &CallRequest{Name: "t", Meta: map[string]json.RawMessage{"k": json.RawMessage(`1`)}}
		if _, err := s.CallTool(background, call); err != nil {
			t.Fatal(err)
		}
		if err := s.SetLogLevel(background, "debug"); err != nil {
			t.Fatal(err)
		}
		call.Meta[protocol.MetaLogLevel] = json.RawMessage(`"alert"`) // the session's own level wins
		if _, err := s.CallTool(background, call); err != nil {
			t.Fatal(err)
		}
		calls := lines(f, protocol.MethodCallTool)
		if got := member(calls[0].Param("_meta"), protocol.MetaLogLevel); got != nil {
			t.Errorf("before: %s", got)
		}
		if got := string(member(calls[1].Param("_meta"), protocol.MetaLogLevel)); got != `"debug"` {
			t.Errorf("after: %s", got)
		}
		if n := strings.Count(calls[1].Raw, protocol.MetaLogLevel); n != 1 {
			t.Errorf("the level is there %d times", n)
		}
		if n := len(lines(f, protocol.MethodSetLevel)); n != 0 {
			t.Errorf("%d requests for it", n)
		}
	})
}

func TestPing(t *testing.T) {
	for option, method := range map[*fakeserver.Option]string{
		ptr(fakeserver.WithRevision(Revision20250618)): protocol.MethodPing,
		ptr(fakeserver.WithModern()):                   protocol.MethodDiscover,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(*option)
			s := connect(t, f, &recorder{})
			before := len(lines(f, method))
			if err := s.Ping(background); err != nil {
				t.Error(err)
			}
			if got := len(lines(f, method)) - before; got != 1 {
				t.Errorf("%d × %s", got, method)
			}
			f.Handle(method, func(c *fakeserver.CallContext) { c.Hang() })
			late := errors.New("no sign of life")
			ctx, stop := context.WithTimeoutCause(background, time.Second, late)
			defer stop()
			if err := s.Ping(ctx); !errors.Is(err, late) {
				t.Errorf("a dead server: %v", err)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestRootsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			option fakeserver.Option
			served Capabilities
			want   int
		}{
			{fakeserver.WithRevision(Revision20241105), everything, 1},
			{fakeserver.WithRevision(Revision20241105), Capabilities{}, 0},
			{fakeserver.WithModern(), everything, 0},
		} {
			f := fakeserver.New(c.option)
			s := connect(t, f, &recorder{}, func(o *Options) { o.Capabilities = func() Capabilities { return c.served } })
			if err := s.RootsChanged(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if got := len(lines(f, protocol.MethodRootsChanged)); got != c.want {
				t.Errorf("%v %+v: %d notifications, want %d", s.Era(), c.served, got, c.want)
			}
		}
	})
}
