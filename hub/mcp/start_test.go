package mcp

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// The conversations of TestHandshake show these starts byte by byte; the tests here show the time, the number of links
// and the errors.

func TestProbeTimeoutFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithSilentProbe(), fakeserver.WithLenientOrder())
		began := time.Now()
		s := connect(t, f, &recorder{})
		if took := time.Since(began); took != DefaultProbeTimeout {
			t.Errorf("the fallback came after %v, want %v", took, DefaultProbeTimeout)
		}
		if s.Era() != Legacy || s.Revision() != Revision20251125 {
			t.Errorf("got %v %s", s.Era(), s.Revision())
		}
		if n := len(lines(f, "notifications/cancelled")); n != 0 {
			t.Errorf("%d cancels on the wire: server/discover must not be cancelled", n)
		}
	})
}

func TestProbeExitRespawns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithExitOnProbe())
		s := connect(t, f, &recorder{})
		if s.Era() != Legacy {
			t.Errorf("era %v", s.Era())
		}
		first := lines(f, protocol.MethodInitialize)
		if len(first) != 1 || first[0].Conn != 2 || len(lines(f, protocol.MethodDiscover)) != 1 {
			t.Errorf("want one probe on link 1 and one initialize on link 2, got %+v", f.Received())
		}
	})
}

func TestEraRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		connect(t, f, &recorder{}, func(o *Options) { o.LastEra = Legacy })
		if n := len(lines(f, protocol.MethodDiscover)); n != 0 {
			t.Errorf("%d probes of a server that is known to be legacy", n)
		}
		// A remembered modern era is tried first, and corrected if it is wrong; a slow modern server is also sent
		// initialize, and its late answer counts.
		slow := fakeserver.New(fakeserver.WithModern())
		slow.Handle(protocol.MethodDiscover, func(c *fakeserver.CallContext) {
			pass(30 * time.Second)
			c.Result(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`)
		})
		if s := connect(t, slow, &recorder{}, func(o *Options) { o.LastEra = Modern }); s.Era() != Modern {
			t.Errorf("slow modern server: era %v", s.Era())
		}
		if s := connect(t, fakeserver.New(), &recorder{}, func(o *Options) { o.LastEra = Modern }); s.Era() != Legacy {
			t.Errorf("wrongly remembered server: era %v", s.Era())
		}
	})
}

func TestDiscoverUnsupportedVersionFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithRevision(Revision20250618), fakeserver.WithLenientOrder())
		f.Handle(protocol.MethodDiscover, func(c *fakeserver.CallContext) {
			c.ErrorData(protocol.CodeUnsupportedVersion, "unsupported",
				`{"supported":["2025-06-18","2025-03-26"],"requested":"2026-07-28"}`)
		})
		s := connect(t, f, &recorder{})
		if s.Revision() != Revision20250618 {
			t.Errorf("revision %s", s.Revision())
		}
		if offered := string(lines(f, protocol.MethodInitialize)[0].Param("protocolVersion")); offered != `"2025-06-18"` {
			t.Errorf("offered %s", offered)
		}
	})
}

func TestInitializeNeverCancelledOnTimeout(t *testing.T) {
	for _, era := range []string{EraLegacy, EraModern} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(fakeserver.WithSilentProbe(), fakeserver.WithLenientOrder())
				f.Handle(protocol.MethodInitialize, func(c *fakeserver.CallContext) { c.Hang() })
				limit := errors.New("the limit of the start")
				ctx, stop := context.WithTimeoutCause(context.Background(), 7*time.Second, limit)
				defer stop()
				_, err := Connect(ctx, Options{Server: "test", Open: serving(t, f), Handler: &recorder{}, Era: era})
				var failed *StartError
				if !errors.As(err, &failed) || !errors.Is(err, limit) {
					t.Fatalf("got %v, want a *StartError with the cause of ctx", err)
				}
				synctest.Wait()
				if got := f.Received(); len(got) != 1 {
					t.Errorf("want one request and nothing after it, got %+v", got)
				}
			})
		})
	}
}

func TestCapabilitiesDeclared(t *testing.T) {
	form := Capabilities{ElicitationForm: true}
	for _, c := range []struct {
		revision string
		served   Capabilities
		wire     string
		usable   Capabilities
	}{
		{Revision20241105, everything, `{"roots":{"listChanged":true},"sampling":{}}`, Capabilities{Roots: true,
			Sampling: true}},
		{Revision20250326, everything, `{"roots":{"listChanged":true},"sampling":{}}`, Capabilities{Roots: true,
			Sampling: true}},
		{Revision20250618, everything, `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`,
			Capabilities{Roots: true, Sampling: true, ElicitationForm: true}},
		{Revision20251125, everything,
			`{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`, everything},
		{Revision20260728, everything,
			`{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, everything},
		{Revision20250618, form, `{"elicitation":{}}`, form},
		{Revision20251125, form, `{"elicitation":{"form":{}}}`, form},
		{Revision20251125, Capabilities{ElicitationURL: true}, `{"elicitation":{"url":{}}}`,
			Capabilities{ElicitationURL: true}},
		{Revision20250618, Capabilities{ElicitationURL: true}, `{}`, Capabilities{}},
		{Revision20251125, Capabilities{Sampling: true}, `{"sampling":{}}`, Capabilities{Sampling: true}},
		{Revision20251125, Capabilities{SamplingTools: true}, `{}`, Capabilities{}},
		{Revision20260728, Capabilities{}, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, Capabilities{}},
	} {
		if got := string(c.served.appendTo(nil, c.revision)); got != c.wire {
			t.Errorf("%s %+v: declares %s, want %s", c.revision, c.served, got, c.wire)
		}
		got := c.served.at(c.revision)
		got.Extensions = nil // TestTaskExtensionDeclared
		if !cmp.Equal(got, c.usable) {
			t.Errorf("%s %+v: usable %+v, want %+v", c.revision, c.served, got, c.usable)
		}
	}
}

// TestCapabilitiesPerRequest: a modern request declares the capabilities that there are when it is sent.
func TestCapabilitiesPerRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		f.Tool("t", func(c *fakeserver.CallContext) { c.Text("ok") })
		var form atomic.Bool
		s := connect(t, f, &recorder{}, func(o *Options) {
			o.Capabilities = func() Capabilities { return Capabilities{ElicitationForm: form.Load()} }
		})
		for range 2 {
			if _, err := s.CallTool(context.Background(), &CallRequest{Name: "t"}); err != nil {
				t.Fatal(err)
			}
			form.Store(true)
		}
		calls := lines(f, protocol.MethodCallTool)
		for i, want := range []string{`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
			`{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`} {
			if got := string(member(calls[i].Param("_meta"), protocol.MetaCapabilities)); got != want {
				t.Errorf("call %d declares %s, want %s", i, got, want)
			}
		}
	})
}
