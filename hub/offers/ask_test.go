package offers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/offers"
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
	ask               func(ctx context.Context, o *offers.Offers, server string) (any, error)
}{
	{"resources", "resources/list", "list its resources",
		func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			return o.Resources(ctx, server)
		}},
	{"templates", "resources/templates/list", "list its resource templates",
		func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			return o.ResourceTemplates(ctx, server)
		}},
	{"prompts", "prompts/list", "list its prompt templates",
		func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			return o.McpPrompts(ctx, server)
		}},
	{"complete", "completion/complete", "complete an argument",
		func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			raw, refusal, err := o.Complete(ctx, offers.Completion{Server: server, McpPrompt: "greet", Argument: "who"})
			if refusal != nil {
				return *refusal, err
			}
			return string(raw), err
		}},
	{"subscribe", "resources/subscribe", "subscribe a resource",
		func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			return nil, o.SubscribeResource(ctx, server, "file:///a")
		}},
}

// What a server answers is given as it came: what it did not say is empty, and a size of 0 is a size.
func TestAnswersAsTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, map[string]*fakeserver.Server{"s": offering("", nil)}, config.Server{Name: "s"})
		none := int64(0)
		want := map[string]any{
			"resources": []event.ResourceInfo{
				{Server: "s", URI: "file:///a", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain", Size: &none,
					Definition: `{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":0}`},
				{Server: "s", URI: "file:///b", Name: "b", Definition: `{"uri":"file:///b","name":"b"}`}},
			"templates": []event.ResourceTemplateInfo{{Server: "s", URITemplate: "file:///{x}", Name: "x", Title: "X",
				Description: "d", MIMEType: "text/plain", Variables: []string{"x"},
				Definition: `{"uriTemplate":"file:///{x}","name":"x","title":"X",` +
					`"description":"d","mimeType":"text/plain"}`}},
			"prompts": []event.McpPromptInfo{{Server: "s", Name: "greet", Title: "Greet", Description: "d",
				Definition: `{"name":"greet","title":"Greet","description":"d",` +
					`"arguments":[{"name":"who","title":"Who","description":"w","required":true},{"name":"how"}]}`,
				Arguments: []event.McpPromptArgument{{Name: "who", Title: "Who", Description: "w", Required: true},
					{Name: "how"}}}},
			"complete":  answers["completion/complete"],
			"subscribe": nil,
		}
		for _, d := range doors {
			got, err := d.ask(t.Context(), h.Offers, "s")
			if diff := cmp.Diff(want[d.name], got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", d.name, err, diff)
			}
		}
	})
}

// A server that is unknown, switched off or cannot be started, that does not offer it, or whose hub shuts down: the
// error says which, and nothing is sent to a server for it.
func TestWhoCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, map[string]*fakeserver.Server{"off": offering("", nil), "plain": fakeserver.New()},
			config.Server{Name: "off", Disabled: true}, config.Server{Name: "gone"}, config.Server{Name: "plain"})
		for _, d := range doors {
			_, err := d.ask(t.Context(), h.Offers, "none")
			wants(t, d.name, err, event.CodeNotFound, event.ReasonServerNotFound, `"none"`)
			_, err = d.ask(t.Context(), h.Offers, "off")
			wants(t, d.name, err, event.CodeFailedPrecondition, event.ReasonServerDisabled, `"off"`)
			_, err = d.ask(t.Context(), h.Offers, "gone")
			wants(t, d.name, err, event.CodeUnavailable, event.ReasonServerFailed, "no such program")
			if list, err := d.ask(t.Context(), h.Offers, "plain"); d.name == "complete" || d.name == "subscribe" {
				wants(t, d.name, err, event.CodeFailedPrecondition, event.ReasonNotOffered, `server "plain" does not offer`)
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
		h.Update(func() { h.draining = true })
		for _, d := range doors {
			_, err := d.ask(t.Context(), h.Offers, "plain")
			wants(t, d.name, err, event.CodeUnavailable, event.ReasonDraining, "shutting down")
		}
		h.Update(func() { h.draining = false })
	})
}

// The error about a server that refuses, ends or does not answer says what it did not do. Its own error about a
// completion is an answer.
func TestServerDoesNotAnswer(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				never := 90 * time.Second
				h := newHouse(t, map[string]*fakeserver.Server{
					"refuses": offering(d.method, func(c *fakeserver.CallContext) { c.ErrorData(-32000, "no\x07", `{"a":1}`) }),
					"ends":    offering(d.method, func(c *fakeserver.CallContext) { c.Disconnect() }),
					"hangs":   offering(d.method, func(c *fakeserver.CallContext) { _ = c.Hang() }),
				}, config.Server{Name: "refuses"}, config.Server{Name: "ends"},
					config.Server{Name: "hangs", Timeouts: config.Timeouts{Connect: &never}})
				if got, err := d.ask(t.Context(), h.Offers, "refuses"); d.name == "complete" {
					if want := (event.McpError{Code: -32000, Message: "no\x07", Data: `{"a":1}`}); err != nil || got != want {
						t.Errorf("%v, %v; want %v", got, err, want)
					}
				} else {
					wants(t, "refused", err, event.CodeUnavailable, event.ReasonServerFailed,
						`server "refuses" did not `+d.did+`: `)
				}
				_, err := d.ask(t.Context(), h.Offers, "ends")
				wants(t, "ended", err, event.CodeUnavailable, event.ReasonServerFailed, `server "ends" did not `+d.did+`: `)
				start := time.Now()
				_, err = d.ask(t.Context(), h.Offers, "hangs")
				wants(t, "late", err, event.CodeDeadlineExceeded, event.ReasonConnectTimeout,
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
				h := newHouse(t, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
				ctx, cancel := context.WithCancelCause(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := d.ask(ctx, h.Offers, "s")
					done <- err
				}()
				<-asked
				cancel(errGone)
				wants(t, "stopped", <-done, event.CodeCancelled, event.ReasonCancelled, "stopped waiting")
				<-heard
				var stays bool
				h.Update(func() { stays = h.Find("s").Up() })
				if !stays {
					t.Error("the server was lost with the wait")
				}
			})
		})
	}
}

// A caller that stops waiting for a slow start does not end the start.
func TestCallerStopsWaitingForTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		fake := offering("initialize", func(c *fakeserver.CallContext) {
			<-let
			c.Result(`{"protocolVersion":"2025-11-25","capabilities":` + everything + `,"serverInfo":{"name":"s","version":"1"}}`)
		})
		h := newHouse(t, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errGone)
		defer cancel()
		_, err := h.Resources(ctx, "s")
		wants(t, "stopped", err, event.CodeCancelled, event.ReasonCancelled, "stopped waiting")
		close(let)
		if list, err := h.Resources(t.Context(), "s"); err != nil || len(list) != 2 || h.started("s") != 1 {
			t.Errorf("%v, %v after %d starts", list, err, h.started("s"))
		}
	})
}

// Whatever is asked of a server, and however that ends, counts as a use of it until then and no longer: a server that
// is stopped when nothing uses it stops its time after that, and not while it is asked.
func TestUseEndsWithTheAnswer(t *testing.T) {
	type ask func(ctx context.Context, o *offers.Offers, server string) (any, error)
	all := map[string]ask{
		"tools": func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			_, _, err := o.Tools(ctx, server)
			return nil, err
		},
		"known tools": func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			_, _, err := o.KnownTools(ctx, server)
			return nil, err
		},
		"known rest": func(ctx context.Context, o *offers.Offers, server string) (any, error) {
			_, err := o.KnownRest(ctx, server)
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
				h := newHouse(t, map[string]*fakeserver.Server{"s": offering("", nil), "hangs": hangs},
					config.Server{Name: "s", IdleStop: &idle}, config.Server{Name: "hangs", IdleStop: &idle})
				for _, s := range h.all {
					if _, err := s.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				up := func(name string) (is bool) {
					synctest.Wait()
					h.Update(func() { is = h.Find(name).Up() })
					return is
				}
				time.Sleep(idle - time.Second)
				if _, err := ask(t.Context(), h.Offers, "s"); err != nil {
					t.Error(err)
				}
				go func() { _, _ = ask(t.Context(), h.Offers, "hangs") }()
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
