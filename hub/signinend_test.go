package hub_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// A technical failure of the sign-in says what failed.
func TestSignInFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t)
		v := w.person()
		at.set(func() { at.noScheme = true })
		w.call(hub.CallRequest{Server: "s", Tool: "echo"}).want(t, event.CodeUnavailable, event.ReasonSignInFailed)
		v.noPrompt()
		at.set(func() { at.noScheme = false })
		c := w.call(hub.CallRequest{Server: "s", Tool: "echo"})
		w.signIn(v)
		c.ok(t)
	})
}
