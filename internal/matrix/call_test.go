package matrix

import (
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const tooSlow = "too slow"

// notified: of all bindings only a modern exchange is closed without a word, and that too tells the server.
const notified = true

// mayContinue: legacy servers SHOULD stop, 2026-07-28 ones have to.
func (c *cell) mayContinue() bool { return !c.binding.modern() }

// hang is a tool that works until it is cancelled, and answers nothing then.
func hang(c *fakeserver.CallContext) { _ = c.Hang() }

// echo answers at once.
func echo(c *fakeserver.CallContext) { c.Text("hello") }

// slow reports progress and hangs.
func slow(c *fakeserver.CallContext) {
	c.Progress(1, 2, "half")
	hang(c)
}

var beforeHeaders = situation{
	name: "before-headers", test: "TestCancelBeforeHeaders", on: overWeb,
	about: "The user cancels a call whose response headers have not come.",
	play: func(c *cell) {
		c.fake.Tool("slow", hang)
		c.http.On("POST tools/call", 1, fakeserver.Act{Silent: true})
		c.start()
		var p *call
		c.step("a call, not answered by headers even", func() { p = c.call("slow") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, hub.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, notified, c.mayContinue())
	},
}

func TestCancelBeforeHeaders(t *testing.T) { run(t, beforeHeaders) }

var beforeProgress = situation{
	name: "before-progress", test: "TestCancelBeforeProgress", on: oneLink,
	about: "The user cancels a call of which nothing has come yet.",
	play: func(c *cell) {
		c.fake.Tool("slow", hang)
		c.start()
		var p *call
		c.step("a call", func() { p = c.call("slow") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, hub.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, notified, c.mayContinue())
	},
}

func TestCancelBeforeProgress(t *testing.T) { run(t, beforeProgress) }

var midStream = situation{
	name: "mid-stream", test: "TestCancelMidStream", on: everywhere,
	about: "The user cancels a call that has reported progress. The stream of a cancelled call is not resumed.",
	play: func(c *cell) {
		c.fake.Tool("slow", slow)
		c.start()
		var p *call
		c.step("a call, and its progress", func() { p = c.call("slow") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, hub.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, notified, c.mayContinue())
		c.pass("a minute later", time.Minute)
	},
}

func TestCancelMidStream(t *testing.T) { run(t, midStream) }

var afterResponse = situation{
	name: "after-response", test: "TestCancelAfterResponse", on: everywhere,
	about: "A cancel that comes after the answer changes nothing and is told to nobody.",
	play: func(c *cell) {
		c.fake.Tool("echo", echo)
		c.start()
		c.step("a call, and its answer", func() { c.text(c.call("echo"), "hello") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, hub.OutcomeAlreadyFinished) })
		if e, ok := c.view.end("r1").(*hub.RequestFinished); !ok || e.State != hub.StateDone {
			c.t.Errorf("the call ended with %+v", c.view.end("r1"))
		}
	},
}

func TestCancelAfterResponse(t *testing.T) { run(t, afterResponse) }

var doubled = situation{
	name: "doubled", test: "TestCancelDoubled", on: everywhere,
	about: "The user presses the button twice while the cancel is under way, and once more afterwards: one cancel is sent, with the first reason.",
	play: func(c *cell) {
		c.fake.Tool("slow", hang)
		c.start()
		var p *call
		c.step("a call", func() { p = c.call("slow") })
		c.step("the user cancels, and again", func() {
			c.cancel("r1", tooSlow, hub.OutcomeCancelling)
			if got, err := c.view.win.Cancel("r1", "I said so"); err != nil || got == hub.OutcomeUnknown {
				c.t.Errorf("the second cancel: %d, %v", got, err)
			}
			<-p.done
		})
		c.step("and once more", func() { c.cancel("r1", "really", hub.OutcomeAlreadyFinished) })
		c.cancelled(p, tooSlow, notified, c.mayContinue())
	},
}

func TestCancelDoubled(t *testing.T) { run(t, doubled) }
