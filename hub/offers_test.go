package hub

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const everything = `{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{}}`

// answers are those of a server that offers everything.
var answers = map[string]string{
	"resources/list": `{"resources":[{"uri":"file:///a","name":"a","title":"A","description":"d",` +
		`"mimeType":"text/plain","size":0},{"uri":"file:///b","name":"b"}]}`,
	"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"file:///{x}","name":"x","title":"X",` +
		`"description":"d","mimeType":"text/plain"}]}`,
	"prompts/list": `{"prompts":[{"name":"greet","title":"Greet","description":"d",` +
		`"arguments":[{"name":"who","title":"Who","description":"w","required":true},{"name":"how"}]}]}`,
	"completion/complete":   `{"completion":{"values":["Ada"], "total":1.0}}`,
	"resources/subscribe":   `{}`,
	"resources/unsubscribe": `{}`,
}

// offering makes a server that offers everything, but handles one method in another way; "" is none.
func offering(method string, handler fakeserver.Handler) *fakeserver.Server {
	s := fakeserver.New(fakeserver.WithCapabilities(everything))
	for m, answer := range answers {
		s.Handle(m, func(c *fakeserver.CallContext) { c.Result(answer) })
	}
	if method != "" {
		s.Handle(method, handler)
	}
	return s
}

// doors are the requests that offers make of a server, each with what an error says that the server did not do.
var doors = []struct {
	name, method, did string
	ask               func(ctx context.Context, h *Hub, server string) (any, error)
}{
	{"resources", "resources/list", "list its resources",
		func(ctx context.Context, h *Hub, server string) (any, error) {
			return h.Resources(ctx, server)
		}},
	{"templates", "resources/templates/list", "list its resource templates",
		func(ctx context.Context, h *Hub, server string) (any, error) {
			return h.ResourceTemplates(ctx, server)
		}},
	{"prompts", "prompts/list", "list its prompt templates",
		func(ctx context.Context, h *Hub, server string) (any, error) {
			return h.McpPrompts(ctx, server)
		}},
	{"complete", "completion/complete", "complete an argument",
		func(ctx context.Context, h *Hub, server string) (any, error) {
			answer, err := h.Complete(ctx, Completion{Server: server, McpPrompt: "greet", Argument: "who"})
			switch {
			case err != nil:
				return nil, err
			case answer.Error != nil:
				return *answer.Error, nil
			}
			return string(answer.Result), nil
		}},
	{"subscribe", "resources/subscribe", "subscribe a resource",
		func(ctx context.Context, h *Hub, server string) (any, error) {
			return nil, h.SubscribeResource(ctx, server, "file:///a")
		}},
}

// A server that is unknown, switched off or cannot be started, that does not offer it, or whose hub shuts down: the
// error says which, and nothing is sent to a server for it.
func TestWhoCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"off": offering("", nil), "plain": fakeserver.New()},
			config.Server{Name: "off", Disabled: true}, config.Server{Name: "gone"}, config.Server{Name: "plain"})
		for _, d := range doors {
			_, err := d.ask(t.Context(), h.Hub, "none")
			wantsRefused(t, d.name, err, event.CodeNotFound, event.ReasonServerNotFound, `"none"`)
			_, err = d.ask(t.Context(), h.Hub, "off")
			wantsRefused(t, d.name, err, event.CodeFailedPrecondition, event.ReasonServerDisabled, `"off"`)
			_, err = d.ask(t.Context(), h.Hub, "gone")
			wantsRefused(t, d.name, err, event.CodeUnavailable, event.ReasonServerFailed, "no such program")
			if list, err := d.ask(t.Context(), h.Hub, "plain"); d.name == "complete" || d.name == "subscribe" {
				wantsRefused(t, d.name, err, event.CodeFailedPrecondition, event.ReasonNotOffered, `server "plain" does not offer`)
			} else if err != nil {
				t.Errorf("%s of a server that has none: %v, %v", d.name, list, err)
			}
			if n := h.fakes["plain"].Count(fakeserver.Method(d.method)); n != 0 {
				t.Errorf("a server that has no %s was sent %s", d.name, d.method)
			}
		}
		if n := h.started("off"); n != 0 {
			t.Errorf("a server that is switched off was started %d times", n)
		}
		h.Drain(t.Context(), "")
		for _, d := range doors {
			_, err := d.ask(t.Context(), h.Hub, "plain")
			wantsRefused(t, d.name, err, event.CodeUnavailable, event.ReasonDraining, "shutting down")
		}
	})
}

// The error about a server that refuses, ends or does not answer says what it did not do. Its own error about a
// completion is an answer.
func TestServerDoesNotAnswer(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				never := 90 * time.Second
				h := newInside(t, Options{}, map[string]*fakeserver.Server{
					"refuses": offering(d.method, func(c *fakeserver.CallContext) { c.ErrorData(-32000, "no\x07", `{"a":1}`) }),
					"ends":    offering(d.method, func(c *fakeserver.CallContext) { c.Disconnect() }),
					"hangs":   offering(d.method, func(c *fakeserver.CallContext) { _ = c.Hang() }),
				}, config.Server{Name: "refuses"}, config.Server{Name: "ends"},
					config.Server{Name: "hangs", Timeouts: config.Timeouts{Connect: &never}})
				if got, err := d.ask(t.Context(), h.Hub, "refuses"); d.name == "complete" {
					if want := (event.McpError{Code: -32000, Message: "no\x07", Data: `{"a":1}`}); err != nil || got != want {
						t.Errorf("%v, %v; want %v", got, err, want)
					}
				} else {
					wantsRefused(t, "refused", err, event.CodeUnavailable, event.ReasonServerFailed,
						`server "refuses" did not `+d.did+`: `)
				}
				_, err := d.ask(t.Context(), h.Hub, "ends")
				wantsRefused(t, "ended", err, event.CodeUnavailable, event.ReasonServerFailed, `server "ends" did not `+d.did+`: `)
				start := time.Now()
				_, err = d.ask(t.Context(), h.Hub, "hangs")
				wantsRefused(t, "late", err, event.CodeDeadlineExceeded, event.ReasonConnectTimeout,
					`server "hangs" did not `+d.did+` within 1m30s; raise timeouts.connect`)
				if took := time.Since(start); took != never {
					t.Errorf("it was given up after %v", took)
				}
			})
		})
	}
}

// errGone is why a caller stops waiting.
var errGone = errors.New("the caller has gone")

// The end of the caller's context ends the wait at once, whatever the server does, and the server is told. It is the
// caller's end and no fault of the server.
func TestCallerStopsWaiting(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, heard := make(chan struct{}), make(chan string, 1)
				fake := offering(d.method, func(c *fakeserver.CallContext) {
					close(asked)
					heard <- <-c.Cancelled()
				})
				h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
				ctx, cancel := context.WithCancelCause(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := d.ask(ctx, h.Hub, "s")
					done <- err
				}()
				<-asked
				cancel(errGone)
				wantsRefused(t, "stopped", <-done, event.CodeCancelled, event.ReasonCancelled, "stopped waiting")
				<-heard
				var stays bool
				h.within(func() { stays = h.held().server("s").up() })
				if !stays {
					t.Error("the server was lost with the wait")
				}
			})
		})
	}
}

// Whatever is asked of a server, and however that ends, counts as a use of it until then and no longer: a server that
// is stopped when nothing uses it stops its time after that, and not while it is asked.
func TestUseEndsWithTheAnswer(t *testing.T) {
	type ask func(ctx context.Context, h *Hub, server string) (any, error)
	all := map[string]ask{
		"tools": func(ctx context.Context, h *Hub, server string) (any, error) {
			_, _, err := h.Tools(ctx, server)
			return nil, err
		},
		"known tools": func(ctx context.Context, h *Hub, server string) (any, error) {
			_, _, err := h.KnownTools(ctx, server)
			return nil, err
		},
		"known rest": func(ctx context.Context, h *Hub, server string) (any, error) {
			_, err := h.KnownRest(ctx, server)
			return nil, err
		},
	}
	methods := map[string]string{"tools": "tools/list", "known tools": "tools/list", "known rest": "prompts/list"}
	for _, d := range doors {
		all[d.name], methods[d.name] = d.ask, d.method
	}
	delete(all, "subscribe") // what is subscribed to is a use
	for name, ask := range all {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				idle := 20 * time.Second
				hangs := offering(methods[name], func(c *fakeserver.CallContext) { _ = c.Hang() })
				h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": offering("", nil), "hangs": hangs},
					config.Server{Name: "s", IdleStop: &idle}, config.Server{Name: "hangs", IdleStop: &idle})
				for _, s := range h.state.servers {
					if _, err := s.start(t.Context(), 0); err != nil {
						t.Fatal(err)
					}
				}
				up := func(name string) (is bool) {
					synctest.Wait()
					h.within(func() { is = h.held().server(name).up() })
					return is
				}
				time.Sleep(idle - time.Second)
				if _, err := ask(t.Context(), h.Hub, "s"); err != nil {
					t.Error(err)
				}
				go func() { _, _ = ask(t.Context(), h.Hub, "hangs") }()
				time.Sleep(idle - time.Second)
				if !up("s") || !up("hangs") {
					t.Errorf("stopped in its use: %v, %v", !up("s"), !up("hangs"))
				}
				time.Sleep(2 * time.Second)
				if up("s") || !up("hangs") {
					t.Errorf("after its use one is up: %v; under its use the other is: %v", up("s"), up("hangs"))
				}
				time.Sleep(2 * time.Minute) // it has timed out
				if up("hangs") {
					t.Error("the server stays up after its request has failed")
				}
			})
		})
	}
}
