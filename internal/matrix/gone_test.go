package matrix

import (
	"net/http"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// breaks prepares the end of a server in the middle of a call, and returns what the tool must do for it. Over stdio and
// over HTTP with SSE the tool ends the whole connection. Over Streamable HTTP the stream of the call breaks with its
// event number n. Where streams can be resumed (2025-11-25), forgets must make the server refuse that.
func (c *cell) breaks(n int) (inCall func(*fakeserver.CallContext)) {
	if c.binding.transport != web {
		return (*fakeserver.CallContext).Disconnect
	}
	c.http.On("POST tools/call", 1, fakeserver.Act{CutAfter: n})
	return func(call *fakeserver.CallContext) {
		call.Progress(float64(n), 0, "")
		hang(call)
	}
}

// staysOpen reports whether the session outlives a stream that breaks. It does not if the server refuses to resume the
// stream (see forgets). Over stdio and HTTP with SSE the stream is the connection.
func (c *cell) staysOpen() bool { return c.binding.transport == web && c.binding.revision != rev2511 }

// forgets makes the server refuse to resume a stream. It must be called when the standalone stream is already open.
func (c *cell) forgets() {
	if c.binding.transport == web && c.binding.revision == rev2511 {
		c.http.On("GET", 1, fakeserver.Act{Status: http.StatusNotFound})
	}
}

// lost checks how a call ended whose server is gone.
func (c *cell) lost(p *call) {
	c.t.Helper()
	reason := event.ReasonServerGone
	if c.binding.transport != stdio {
		reason = event.ReasonExchangeFailed
	}
	c.failed(p, event.CodeUnavailable, reason)
	e, ok := c.view.end("r1").(*event.RequestFinished)
	if !ok || e.State != event.StateFailed || e.Err == nil || e.Err.Reason != reason {
		c.t.Errorf("r1 ended with %+v", c.view.end("r1"))
	}
}

var serverGone = situation{
	name: "server-gone", test: "TestServerGone", on: everywhere,
	about: "The server goes in mid-call: the call fails and is not repeated, nothing is cancelled, and the next call finds the server, started or opened anew where it has to be.",
	play: func(c *cell) {
		end, leave := c.breaks(2), make(chan struct{})
		c.fake.Tool("slow", func(call *fakeserver.CallContext) {
			call.Progress(1, 2, "half")
			c.said(leave)
			end(call)
		})
		c.fake.Tool("echo", echo)
		c.start()
		c.forgets()
		var p *call
		c.step("a call, and its progress", func() { p = c.call("slow") })
		c.step("the end of the server", func() { close(leave) })
		c.pass("a minute later", time.Minute)
		c.lost(p)
		if !c.staysOpen() {
			c.fallen()
		}
		c.again()
		c.step("another call", func() { c.text(c.call("echo"), "hello") })
	},
}

func TestServerGone(t *testing.T) { run(t, serverGone) }

var serverGonePrompt = situation{
	name: "server-gone-prompt", test: "TestServerGoneWithAPrompt", on: legacy,
	about: "The server goes while its question is open: the prompt closes, and nothing is answered. Over Streamable HTTP the connection of the call goes: where the session stays, the question is answered with cancel.",
	play: func(c *cell) {
		end, leave := c.breaks(2), make(chan struct{})
		c.ask(func(call *fakeserver.CallContext, _ *fakeserver.OutRequest) {
			c.said(leave)
			end(call)
		})
		c.start()
		c.forgets()
		var p *call
		c.step("a call, and a question", func() { p = c.call("ask") })
		c.step("the end of the server", func() { close(leave) })
		c.pass("a minute later", time.Minute)
		c.lost(p)
		c.view.mu.Lock()
		prompts := c.view.opened
		c.view.mu.Unlock()
		if len(prompts) != 1 {
			c.t.Fatalf("%d prompts were opened", len(prompts))
		}
		if c.staysOpen() {
			c.promptClosed(prompts[0], event.CauseParent, event.OriginParent, "the request that caused it is over")
		} else {
			c.promptClosed(prompts[0], event.CauseServerGone, event.OriginTransport, "the connection to the server ended")
		}
	},
}

func TestServerGoneWithAPrompt(t *testing.T) { run(t, serverGonePrompt) }

// listenEnds returns a situation in which the server ends its subscriptions/listen while a call is open.
func listenEnds(name, test, about string, end func(*cell, *fakeserver.Subscription)) situation {
	return situation{
		name: name, test: test, on: modern,
		about: about +
			" That is no cancel of anybody's request: the call beside it goes on, the windows hear of no cancel, and the stream is opened anew after a second.",
		play: func(c *cell) {
			calls := make(chan *fakeserver.CallContext, 1)
			c.fake.Tool("slow", func(call *fakeserver.CallContext) { calls <- call; hang(call) })
			c.start()
			sub := c.subscribed()
			var p *call
			c.step("a call beside the stream", func() { p = c.call("slow") })
			c.step("the server ends the stream", func() { end(c, sub) })
			c.pass("a second later", time.Second)
			c.subscribed()
			if n := len(c.fake.Subscriptions()); n != 1 {
				c.t.Errorf("%d subscriptions are open", n)
			}
			c.step("the server answers the call", func() { (<-calls).Text("done"); c.text(p, "done") })
		},
	}
}

var listenResult = listenEnds("listen-result", "TestListenEndsWithResult",
	"The server ends subscriptions/listen with a result.",
	func(_ *cell, sub *fakeserver.Subscription) { sub.EndWithResult() })

func TestListenEndsWithResult(t *testing.T) { run(t, listenResult) }

var listenCancelled = listenEnds("listen-cancelled", "TestListenEndsWithCancel",
	"The server ends subscriptions/listen with notifications/cancelled that names it.",
	func(_ *cell, sub *fakeserver.Subscription) { sub.EndWithCancel("restarting") })

func TestListenEndsWithCancel(t *testing.T) { run(t, listenCancelled) }

var listenError = listenEnds("listen-error", "TestListenEndsWithError",
	"The server ends subscriptions/listen with an error.",
	func(_ *cell, sub *fakeserver.Subscription) { sub.EndWithError(-32603, "restarting") })

func TestListenEndsWithError(t *testing.T) { run(t, listenError) }

// listenLink is the fourth way in which a subscriptions/listen ends. Over stdio its whole connection ends, so there is
// no call beside it.
var listenLink = situation{
	name: "listen-link", test: "TestListenEndsWithLink", on: modern,
	about: "subscriptions/listen ends with its link: over Streamable HTTP that stream alone breaks, and it is opened anew; over stdio the server is gone, and the next call starts it anew. Nobody's request is cancelled.",
	play: func(c *cell) {
		c.fake.Tool("echo", echo)
		if c.http != nil {
			c.http.On("POST subscriptions/listen", 1, fakeserver.Act{CutAfter: 2})
		}
		c.start()
		sub := c.subscribed()
		c.step("the link ends, over HTTP after a change was told", func() {
			if c.http == nil {
				c.fake.Disconnect()
			} else if err := sub.Notify("notifications/tools/list_changed", ""); err != nil {
				c.t.Error(err)
			}
		})
		c.pass("a second later", time.Second)
		c.again()
		c.step("a call", func() { c.text(c.call("echo"), "hello") })
		c.subscribed()
		if n := len(c.fake.Subscriptions()); n != 1 {
			c.t.Errorf("%d subscriptions are open", n)
		}
	},
}

func TestListenEndsWithLink(t *testing.T) { run(t, listenLink) }
