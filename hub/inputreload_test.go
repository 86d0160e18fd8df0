package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// A reload that changes an input while its question is open asks again, for what the file says now. A reload that does
// not change the input leaves the question open, and one that changes the launch ends it together with the start.
func TestReloadUnderAnInputPrompt(t *testing.T) {
	file := func(input, server string) hub.ConfigSource {
		return hub.ConfigSource{Path: userFile, Scope: "user", JSON: `{"inputs":[` + input + `],
			"servers":{"s":{"command":"s",` + server + `"env":{"V":"${input:v}"},` + allow + `},"t":{"command":"t","env":{"V":"${input:v}"},` + allow + `}}}`}
	}
	const plain, secret = `{"id":"v","type":"promptString","description":"a value"}`,
		`{"id":"v","type":"promptString","description":"a value","password":true}`
	const pick = `{"id":"v","type":"pickString","description":"a value","options":["red","blue"]}`
	start := func(t *testing.T) (*world, *view, event.PromptInfo, *pendingCall) {
		w := newWorldWith(t, hub.Options{}, map[string]*fakeserver.Server{"s": hanging(), "t": hanging()})
		w.source(file(plain, ""))
		v := w.user("one")
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo", Timeouts: hub.Timeouts{Total: ptr(20 * time.Second)}})
		return w, v, v.input("v"), c
	}
	const changed = "the server's config changed"
	t.Run("nothing of it", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w, v, p, c := start(t)
			w.source(file("\n\n"+plain, `"timeouts":{"total":"9m"},`))
			if v.input("v").ID != p.ID {
				t.Error("a second prompt opened, want the same one")
			}
			v.give("v", `"x"`)
			c.ok(t)
			w.nothingLeft()
		})
	})
	t.Run("the input", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w, v, p, c := start(t)
			other := w.call(hub.CallRequest{Server: "t", Tool: "echo"})
			synctest.Wait()
			w.source(file(pick, ""))
			v.wantClosed(p.ID, event.CauseSuperseded, event.OriginHost, changed)
			wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: `"x"`}),
				event.ReasonPromptClosed)
			q := v.input("v")
			if len(q.Input.Options) != 2 {
				t.Errorf("the question is %+v", q.Input)
			}
			wantReason(t, v.win.Answer(event.PromptAnswer{PromptID: q.ID, Action: event.ActionAccept, Content: `"x"`}),
				event.ReasonInvalidContent)
			pass(10 * time.Minute) // no clock runs for the second question, either
			v.give("v", `"blue"`)
			c.ok(t)
			other.ok(t)
			for _, s := range w.started() {
				if *s.Env["V"] != "blue" {
					t.Errorf("%s was given %q", s.Name, *s.Env["V"])
				}
			}
			w.nothingLeft()
		})
	})
	t.Run("that it is secret", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w, v, _, c := start(t)
			w.source(file(secret, ""))
			if q := v.input("v"); !q.Input.Secret {
				t.Errorf("the question is %+v", q.Input)
			}
			v.give("v", `"k-771277"`)
			c.ok(t)
			if got := w.hub.Redact("it is k-771277"); strings.Contains(got, "771277") {
				t.Errorf("%s: it is not taken for a secret", got)
			}
			w.nothingLeft()
		})
	})
	t.Run("the launch", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w, v, _, c := start(t)
			other := w.call(hub.CallRequest{Server: "t", Tool: "echo"})
			synctest.Wait()
			w.source(file(pick, `"args":["x"],`))
			if e := c.want(t, event.CodeCancelled, event.ReasonCancelled); e.Meta["origin"] != "host" {
				t.Errorf("the error is %+v", e)
			}
			if q := v.input("v"); q.Server != "t" || len(q.Input.Options) != 2 { // the server that still waits asks
				t.Errorf("the prompt is %+v", q)
			}
			v.give("v", `"red"`)
			other.ok(t)
			if n := w.starts("s"); n != 0 {
				t.Errorf("%d starts", n)
			}
			w.echo().ok(t)
			w.nothingLeft()
		})
	})
	t.Run("that there is a server", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w, v, _, c := start(t)
			w.source(hub.ConfigSource{Path: userFile, Scope: "user", JSON: `{"servers":{}}`})
			<-c.done
			v.noPrompt()
			w.nothingLeft()
		})
	})
}
