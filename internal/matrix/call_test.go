package matrix

import (
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const tooSlow = "too slow"

// delivered is the delivery of most cancels. A modern exchange over HTTP is cancelled by closing it, and counts as
// delivered too.
const delivered = event.DeliveryDelivered

// hang is a tool that works until it is cancelled, and then sends no answer.
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
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		delivery := delivered
		if !c.binding.modern() { // not sent yet, as the next step shows
			delivery = event.DeliveryPending
		}
		c.cancelled(p, tooSlow, delivery)
		// A legacy server gets the cancel only now, so that it does not overtake its call.
		c.pass("a second after the call was written", time.Second)
		if !c.binding.modern() {
			// The call stays silent, so the server had read it before the cancel: otherwise it would send headers now.
			c.pass("a second later, with no word of the call", time.Second)
		}
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
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, delivered)
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
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, delivered)
		c.pass("a minute later", time.Minute)
	},
}

func TestCancelMidStream(t *testing.T) { run(t, midStream) }

var streamEnded = situation{
	name: "stream-ended", test: "TestCancelledStreamIsNotResumed", on: where(func(b binding) bool {
		return b.transport == web && !b.modern()
	}),
	about: "The server ends the stream of a call when it hears of the cancel, before it has answered that: it is not resumed, also where it could be (2025-11-25).",
	play: func(c *cell) {
		c.fake.Tool("slow", func(call *fakeserver.CallContext) {
			slow(call)
			call.Progress(2, 2, "tidied up")
		})
		told := make(chan struct{})
		c.http.On("POST tools/call", 1, fakeserver.Act{EndAfter: 2})
		c.http.On("POST notifications/cancelled", 1, fakeserver.Act{Hold: told})
		c.start()
		var p *call
		c.step("a call, and its progress", func() { p = c.call("slow") })
		c.step("the user cancels, and the server ends the stream", func() {
			c.cancel("r1", tooSlow, event.OutcomeCancelling)
			<-p.done
		})
		c.cancelled(p, tooSlow, event.DeliveryPending)
		c.pass("two seconds later", 2*time.Second)
		c.step("the server answers the cancel", func() { close(told) })
		c.pass("a minute later", time.Minute)
	},
}

func TestCancelledStreamIsNotResumed(t *testing.T) { run(t, streamEnded) }

var afterResponse = situation{
	name: "after-response", test: "TestCancelAfterResponse", on: everywhere,
	about: "A cancel that comes after the answer changes nothing and is told to nobody.",
	play: func(c *cell) {
		c.fake.Tool("echo", echo)
		c.start()
		c.step("a call, and its answer", func() { c.text(c.call("echo"), "hello") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeAlreadyFinished) })
		if e, ok := c.view.end("r1").(*event.RequestFinished); !ok || e.State != event.StateDone {
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
			c.cancel("r1", tooSlow, event.OutcomeCancelling)
			if got, err := c.view.win.Cancel("r1", "I said so"); err != nil || got == event.OutcomeUnknown {
				c.t.Errorf("the second cancel: %d, %v", got, err)
			}
			<-p.done
		})
		c.step("and once more", func() { c.cancel("r1", "really", event.OutcomeAlreadyFinished) })
		c.cancelled(p, tooSlow, delivered)
	},
}

func TestCancelDoubled(t *testing.T) { run(t, doubled) }

var lateAnswer = situation{
	name: "late-answer", test: "TestLateAnswer", on: everywhere,
	about: "The server answers a cancelled call all the same: nobody hears of it, and the session goes on. Over HTTP there is no stream left for that answer.",
	play: func(c *cell) {
		answer := make(chan struct{})
		c.fake.Tool("stubborn", func(call *fakeserver.CallContext) {
			c.said(answer)
			call.Text("all the same")
		})
		c.fake.Tool("echo", echo)
		c.start()
		var p *call
		c.step("a call", func() { p = c.call("stubborn") })
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, delivered)
		c.step("the server answers", func() { close(answer) })
		c.step("another call", func() { c.text(c.call("echo"), "hello") })
	},
}

func TestLateAnswer(t *testing.T) { run(t, lateAnswer) }

var awaitingApproval = situation{
	name: "awaiting-approval", test: "TestCancelAwaitingApproval", on: everywhere,
	about: "The user cancels a call that waits for an approval: the prompt closes, and nothing is sent.",
	play: func(c *cell) {
		c.entry = `"disabled":false`
		c.fake.Tool("slow", hang)
		c.start()
		var p *call
		c.step("a call that needs an approval", func() { p = c.call("slow") })
		prompt := c.view.prompt()
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, event.DeliveryNotNeeded)
		c.promptClosed(prompt, event.CauseParent, event.OriginParent, tooSlow)
	},
}

func TestCancelAwaitingApproval(t *testing.T) { run(t, awaitingApproval) }

var unknown = situation{
	name: "unknown", test: "TestCancelUnknown", on: everywhere,
	about: "Cancels of what does not exist, from both sides: the user's is remembered and told to nobody, and of the server's, which name an id that never was and one of ours, none does harm.",
	play: func(c *cell) {
		calls := make(chan *fakeserver.CallContext, 1)
		c.fake.Tool("slow", func(call *fakeserver.CallContext) { calls <- call; hang(call) })
		c.start()
		var p *call
		c.step("a call", func() { p = c.call("slow") })
		c.step("the user cancels another", func() { c.cancel("nobody", tooSlow, event.OutcomeUnknown) })
		server := <-calls
		c.step("the server cancels what never was, and our own call", func() {
			server.Notify("notifications/cancelled", `{"requestId":99,"reason":"never mind"}`)
			server.Notify("notifications/cancelled", `{"requestId":`+string(server.ID)+`,"reason":"not yours"}`)
		})
		c.step("the server answers", func() { server.Text("done"); c.text(p, "done") })
	},
}

func TestCancelUnknown(t *testing.T) { run(t, unknown) }

// malformedCancels are bodies of cancels that would name question 0 if they were well-formed.
var malformedCancels = []string{"", `null`, `[]`, `"0"`, `{}`, `{"requestId":null}`, `{"requestId":{}}`,
	`{"requestId":[0]}`, `{"requestId":true}`, `{"requestId":"0"}`, `{"requestId":0.0}`, `{"id":0}`}

var malformed = situation{
	name: "malformed", test: "TestCancelMalformed", on: everywhere,
	about: "Malformed cancels of the server, while its question 0 is open: it stays open, is answered, and the call goes on. In 2026-07-28 there is no such question, and the call goes on.",
	play: func(c *cell) {
		calls := make(chan *fakeserver.CallContext, 1)
		method, params, content := c.question()
		c.fake.Tool("ask", func(call *fakeserver.CallContext) {
			calls <- call
			if !c.binding.modern() {
				<-call.Request(method, params).Response()
				call.Text("done")
			} else {
				hang(call)
			}
		})
		c.start()
		var p *call
		c.step("a call", func() { p = c.call("ask") })
		server := <-calls
		c.step("the server cancels, badly", func() {
			for _, m := range malformedCancels {
				server.Notify("notifications/cancelled", m)
			}
		})
		c.step("the call is answered", func() {
			if c.binding.modern() {
				server.Text("done")
			} else if err := c.view.win.Answer(event.PromptAnswer{PromptID: c.view.prompt().ID, Action: event.ActionAccept,
				Content: content}); err != nil {
				c.t.Error(err)
			}
			c.text(p, "done")
		})
	},
}

func TestCancelMalformed(t *testing.T) { run(t, malformed) }
