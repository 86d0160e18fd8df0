package matrix

import (
	"context"
	"errors"
	"testing"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// holdStart keeps the server from answering the first message of a session until release is called.
func (c *cell) holdStart() (release func()) {
	if c.binding.transport == stdio {
		return c.fake.PauseReading()
	}
	held := make(chan struct{})
	first := "POST server/discover"
	if c.binding.transport == sse {
		first = "GET"
	}
	c.http.On(first, 1, fakeserver.Act{Hold: held})
	return func() { close(held) }
}

var start = situation{
	name: "start", test: "TestStartIsNotCancelled", on: everywhere,
	about: "The start of a session cannot be cancelled: the user is refused, and nothing is sent. A call that waits for the start is cancelled without a word to the server, and the start goes on.",
	play: func(c *cell) {
		c.fake.Tool("echo", echo)
		c.prepare()
		release := c.holdStart()
		var p *call
		c.step("a call starts the server, which does not answer", func() { p = c.call("echo") })
		c.step("the user cancels the start", func() {
			for _, r := range c.hub.Requests("s") {
				if r.Method != "initialize" {
					continue
				}
				_, err := c.hub.CancelRequest(r.ID, "", tooSlow, event.OriginUser)
				if e, ok := errors.AsType[*event.Error](err); !ok || e.Code != event.CodeFailedPrecondition ||
					e.Reason != event.ReasonUncancellable {
					c.t.Errorf("cancelling the start: %v", err)
				}
			}
		})
		c.step("the user cancels the call", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, event.DeliveryNotNeeded)
		c.step("the server answers", func() { release(); c.connect() })
		c.step("another call", func() { c.text(c.call("echo"), "hello") })
	},
}

func TestStartIsNotCancelled(t *testing.T) { run(t, start) }

var startStopped = situation{
	name: "start-stopped", test: "TestStopWhileStarting", on: everywhere,
	about: "The user stops a server that is starting: what opens the session is not cancelled on the wire either, its link is closed.",
	play: func(c *cell) {
		c.fake.Tool("echo", echo)
		c.prepare()
		release := func() {}
		if c.binding.transport == stdio {
			c.fake.Handle("server/discover", hang)
		} else {
			release = c.holdStart()
		}
		var p *call
		c.step("a call starts the server, which does not answer", func() { p = c.call("echo") })
		c.step("the user stops the server", func() {
			if _, err := c.hub.StopServer(context.Background(), "s", "enough"); err != nil {
				c.t.Error(err)
			}
			<-p.done
		})
		c.failed(p, event.CodeCancelled, event.ReasonCancelled)
		c.ended("r1", event.OriginHost, "enough", event.DeliveryNotNeeded)
		c.step("the server would answer now", release)
	},
}

func TestStopWhileStarting(t *testing.T) { run(t, startStopped) }
