package matrix

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const (
	form     = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`
	sampling = `{"messages":[{"role":"user","content":{"type":"text","text":"Who?"}}],"maxTokens":9}`
)

// question returns what a server of this revision asks, and a valid answer. Elicitation exists from 2025-06-18 on.
func (c *cell) question() (method, params, content string) {
	if c.binding.revision < rev2506 {
		return "sampling/createMessage", sampling, `{"role":"assistant","content":{"type":"text","text":"I"},"model":"m"}`
	}
	return "elicitation/create", form, `{"name":"I"}`
}

// ask adds a tool that asks a question and then calls then with it. A modern server asks with an input_required result,
// and hangs in the next round.
func (c *cell) ask(then func(*fakeserver.CallContext, *fakeserver.OutRequest)) {
	method, params, _ := c.question()
	c.fake.Tool("ask", func(call *fakeserver.CallContext) {
		if c.binding.modern() {
			if call.Param("inputResponses") != nil {
				hang(call)
				return
			}
			call.InputRequired(fmt.Sprintf(`{"q":{"method":%q,"params":%s}}`, method, params), "state-1")
			return
		}
		then(call, call.Request(method, params))
	})
}

// withdraw cancels a question. The notification is sent on the stream of the call, but over Streamable HTTP on the
// standalone stream, because the hub may be closing the stream of the call at the same time.
func (c *cell) withdraw(q *fakeserver.OutRequest, reason string) {
	if c.binding.transport != web {
		q.Cancel(reason)
		return
	}
	if err := c.fake.Notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%s,"reason":%q}`, q.ID,
		reason)); err != nil {
		c.t.Error(err)
	}
}

var duringPrompt = situation{
	name: "during-prompt", test: "TestCancelDuringPrompt", on: everywhere,
	about: "The user cancels a call while a question of its server is open. A legacy server that does not take its question back gets the answer cancel (sampling: error -1) after a moment. " +
		"Between two rounds of a modern call nothing is sent, and the call is not tried again.",
	play: func(c *cell) {
		c.ask(func(call *fakeserver.CallContext, _ *fakeserver.OutRequest) { hang(call) })
		c.start()
		var p *call
		c.step("a call, and a question", func() { p = c.call("ask") })
		prompt := c.view.prompt()
		c.step("the user cancels the call", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		delivery := delivered
		if c.binding.modern() { // the server has already answered the first round
			delivery = event.DeliveryNotNeeded
		}
		c.cancelled(p, tooSlow, delivery)
		c.promptClosed(prompt, event.CauseParent, event.OriginParent, tooSlow)
		for _, id := range c.view.questions() {
			c.ended(id, event.OriginParent, tooSlow, event.DeliveryNotNeeded)
		}
		c.pass("a minute later", time.Minute)
	},
}

func TestCancelDuringPrompt(t *testing.T) { run(t, duringPrompt) }

var promptWithdrawn = situation{
	name: "during-prompt-withdrawn", test: "TestCancelDuringPromptWithdrawn", on: legacy,
	about: "The same with a server that takes its question back when it hears of the cancel: nothing is answered.",
	play: func(c *cell) {
		c.ask(func(call *fakeserver.CallContext, q *fakeserver.OutRequest) {
			hang(call)
			c.withdraw(q, "the call was cancelled")
		})
		c.start()
		var p *call
		c.step("a call, and a question", func() { p = c.call("ask") })
		prompt := c.view.prompt()
		c.looseStep("the user cancels the call", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, delivered)
		c.promptClosed(prompt, event.CauseParent, event.OriginParent, tooSlow)
		c.pass("a minute later", time.Minute)
	},
}

func TestCancelDuringPromptWithdrawn(t *testing.T) { run(t, promptWithdrawn) }

var secondRound = situation{
	name: "second-round", test: "TestCancelInTheSecondRound", on: modern,
	about: "The user cancels a call whose question was answered, while its second round is on the wire: that round is cancelled, by its own id.",
	play: func(c *cell) {
		c.ask(nil)
		c.start()
		var p *call
		c.step("a call, and a question", func() { p = c.call("ask") })
		_, _, content := c.question()
		c.step("the user answers", func() {
			if err := c.view.win.Answer(event.PromptAnswer{PromptID: c.view.prompt().ID, Action: event.ActionAccept,
				Content: content}); err != nil {
				c.t.Error(err)
			}
		})
		c.step("the user cancels", func() { c.cancel("r1", tooSlow, event.OutcomeCancelling); <-p.done })
		c.cancelled(p, tooSlow, delivered)
	},
}

func TestCancelInTheSecondRound(t *testing.T) { run(t, secondRound) }

var serverWithdraws = situation{
	name: "server-cancel", test: "TestServerCancelsItsQuestion", on: legacy,
	about: "The server takes its question back, and says so twice: the prompt closes once, nothing is answered, and the call goes on.",
	play: func(c *cell) {
		asked, finish := make(chan *fakeserver.OutRequest, 1), make(chan struct{})
		c.ask(func(call *fakeserver.CallContext, q *fakeserver.OutRequest) {
			asked <- q
			c.said(finish)
			call.Text("done")
		})
		c.start()
		var p *call
		c.step("a call, and a question", func() { p = c.call("ask") })
		prompt, q := c.view.prompt(), <-asked
		c.step("the server takes its question back, and again", func() {
			q.Cancel("changed my mind")
			q.Cancel("as I said")
		})
		c.promptClosed(prompt, event.CauseWithdrawn, event.OriginServer, "changed my mind")
		for _, id := range c.view.questions() {
			c.ended(id, event.OriginServer, "changed my mind", event.DeliveryNotNeeded)
		}
		_, _, content := c.question()
		if err := c.view.win.Answer(event.PromptAnswer{PromptID: prompt.ID, Action: event.ActionAccept,
			Content: content}); err == nil {
			c.t.Error("a prompt that was withdrawn took an answer")
		}
		c.step("the server answers the call", func() { close(finish); c.text(p, "done") })
		c.pass("a minute later", time.Minute)
	},
}

func TestServerCancelsItsQuestion(t *testing.T) { run(t, serverWithdraws) }

var serverWithdrawsLate = situation{
	name: "server-cancel-late", test: "TestServerCancelsLate", on: legacy,
	about: "The server takes a question back that was answered: nothing happens, and a later question with the same id is not touched by it.",
	play: func(c *cell) {
		answered, asked, finish := make(chan *fakeserver.OutRequest, 1), make(chan struct{}), make(chan struct{})
		c.ask(func(call *fakeserver.CallContext, q *fakeserver.OutRequest) {
			<-q.Response()
			answered <- q
			c.said(asked)
			c.said(finish)
			call.Text("done")
		})
		c.start()
		method, params, content := c.question()
		answer := func(p event.PromptInfo) {
			if err := c.view.win.Answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept,
				Content: content}); err != nil {
				c.t.Error(err)
			}
		}
		var p *call
		c.step("a call, and a question", func() { p = c.call("ask") })
		first := c.view.prompt()
		c.step("the user answers", func() { answer(first) })
		q := <-answered
		// This cancel and the next question are sent on the same stream, because messages on two streams have no order.
		c.step("the server takes its question back", func() { c.withdraw(q, "changed my mind") })
		c.promptClosed(first, event.CauseAnswered, event.OriginUser, "")
		c.step("it asks another with the same id", func() {
			if _, err := c.fake.RequestWithID(string(q.ID), method, params); err != nil {
				c.t.Error(err)
			}
			close(asked)
		})
		second := c.view.prompt()
		c.step("the user answers that too", func() { answer(second) })
		c.promptClosed(second, event.CauseAnswered, event.OriginUser, "")
		c.step("the server answers the call", func() { close(finish); c.text(p, "done") })
	},
}

func TestServerCancelsLate(t *testing.T) { run(t, serverWithdrawsLate) }
