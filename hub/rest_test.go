package hub

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// rest gives how much is known: resources, templates, prompt templates; -1 when nothing is.
func restCounts(r *Rest) [3]int {
	if r == nil {
		return [3]int{-1, -1, -1}
	}
	return [3]int{len(r.Resources), len(r.Templates), len(r.Prompts)}
}

// What a server offers beside its tools is known once it is connected, and stays so after that. Nothing is started for
// it. A list that it refuses is an empty one.
func TestKnownRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		partly := offering("resources/templates/list", func(c *fakeserver.CallContext) { c.Error(-32601, "no templates") })
		h := newInside(t, Options{},
			map[string]*fakeserver.Server{"s": offering("", nil), "partly": partly, "plain": fakeserver.New()},
			config.Server{Name: "s"}, config.Server{Name: "partly"}, config.Server{Name: "plain"})
		known := func(name string, want [3]int) {
			t.Helper()
			got, err := h.KnownRest(t.Context(), name)
			if restCounts(got) != want || err != nil {
				t.Errorf("%s: %v, %v; want %v", name, restCounts(got), err, want)
			}
		}
		for name, want := range map[string][3]int{"s": {2, 1, 1}, "partly": {2, 0, 1}, "plain": {}} {
			known(name, [3]int{-1, -1, -1})
			if h.started(name) != 0 {
				t.Errorf("%s was started", name)
			}
			if _, _, err := h.Tools(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			known(name, want)
			if _, err := h.StopServer(t.Context(), name, ""); err != nil {
				t.Fatal(err)
			}
			known(name, want)
			if h.started(name) != 1 {
				t.Errorf("%s was started %d times", name, h.started(name))
			}
		}
		_, err := h.KnownRest(t.Context(), "none")
		wantsRefused(t, "none", err, event.CodeNotFound, event.ReasonServerNotFound, `"none"`)
	})
}

// A connected server that does not list in time, or ends, is an error that says so; the end of the caller's context is
// told as a cancel.
func TestKnownRestThatIsNotListed(t *testing.T) {
	for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newInside(t, Options{}, map[string]*fakeserver.Server{
					"hangs": offering(method, func(c *fakeserver.CallContext) { _ = c.Hang() }),
					"ends":  offering(method, func(c *fakeserver.CallContext) { c.Disconnect() })},
					config.Server{Name: "hangs"}, config.Server{Name: "ends"})
				for _, s := range h.state.servers {
					if _, _, err := h.Tools(t.Context(), s.name); err != nil {
						t.Fatal(err)
					}
				}
				start := time.Now()
				_, err := h.KnownRest(t.Context(), "hangs")
				wantsRefused(t, "late", err, event.CodeDeadlineExceeded, event.ReasonConnectTimeout,
					"did not list what it offers within 1m0s")
				if took := time.Since(start); took != time.Minute {
					t.Errorf("it was given up after %v", took)
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
				defer cancel()
				_, err = h.KnownRest(ctx, "hangs")
				wantsRefused(t, "stopped", err, event.CodeCancelled, event.ReasonCancelled, "stopped waiting")
				_, err = h.KnownRest(t.Context(), "ends")
				wantsRefused(t, "ended", err, event.CodeUnavailable, event.ReasonServerFailed,
					`server "ends" did not list what it offers: `)
			})
		})
	}
}
