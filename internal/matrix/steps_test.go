package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// play plays the steps that are of this binding. The start is not a step: it has transcripts of its own.
func (c *cell) play(steps []scripted) {
	c.t.Helper()
	for _, s := range steps {
		for action := range strings.SplitSeq(s.text, "; ") {
			if tool, found := strings.CutPrefix(action, "call "); found {
				c.served.tool(tool)
			}
		}
	}
	for _, s := range steps {
		if !c.binding.in(s.selector) {
			continue
		}
		if what, found := strings.CutPrefix(s.text, "http "); found {
			c.misbehave(what)
			continue
		}
		if what, found := strings.CutPrefix(s.text, "server "); found && c.served.prepare(what) {
			continue
		}
		if c.hub == nil {
			c.prepare()
			if !slices.Contains(c.with, withoutStart) {
				c.connect()
			}
		}
		c.tape.begin(s.text, slices.Contains(strings.Fields(s.selector), loose) || s.text == "again")
		if text, found := strings.CutPrefix(s.text, "after "); found {
			c.idle(c.duration(text))
			continue
		}
		for action := range strings.SplitSeq(s.text, "; ") {
			c.act(action)
		}
		for _, returned := range c.ending {
			<-returned
		}
		c.ending = nil
		c.settled()
	}
}

func (c *cell) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

// act does one thing. What no word here begins is done by the server in the course of a request.
func (c *cell) act(action string) {
	c.t.Helper()
	if first, name, found := strings.Cut(strings.TrimSuffix(action, " is cancelled"), " when "); found {
		k := c.served.find(name, false)
		go func() {
			select {
			case <-k.call.Cancelled():
				c.act(first)
			case <-k.over:
			}
		}()
		return
	}
	word, rest, _ := strings.Cut(action, " ")
	switch word {
	case "call":
		c.call(rest)
	case "cancel":
		id, reason, _ := strings.Cut(rest, " ")
		c.cancel(id, reason)
	case "accept", "decline", "dismiss":
		c.answer(word, rest)
	case "stop":
		if _, err := c.hub.StopServer(context.Background(), "s", rest); err != nil {
			c.t.Error(err)
		}
	case "again":
		c.fallen()
		c.connect()
	case "connect":
		c.connect()
	case "release":
		c.release()
	case "server":
		c.served.act(c.served.expand(rest))
	default:
		c.served.request(word, c.served.expand(rest))
	}
}

// call starts a tool call in the background. The request ids are r1, r2 and so on.
func (c *cell) call(tool string) {
	returned := make(chan struct{})
	c.calls = append(c.calls, returned)
	id := fmt.Sprintf("r%d", len(c.calls))
	go func() {
		defer close(returned)
		r, err := c.hub.CallTool(context.Background(), hub.CallRequest{ID: id, Server: "s", Tool: tool})
		switch {
		case err != nil:
			c.report(id+" got", err)
		case r.Error != nil:
			c.tape.callerLine("%s got the error %d %q", id, r.Error.Code, r.Error.Message)
		default:
			c.tape.callerLine("%s got %s", id, textOf(r.Result))
		}
	}()
}

// textOf returns the text of a tool's result, or all of it if it is not one text.
func textOf(result json.RawMessage) string {
	var r struct {
		Content []struct{ Text string }
	}
	if json.Unmarshal(result, &r) != nil || len(r.Content) != 1 {
		return string(result)
	}
	return strconv.Quote(r.Content[0].Text)
}

// report records an error of the hub.
func (c *cell) report(what string, err error) {
	if e, ok := errors.AsType[*event.Error](err); ok {
		c.tape.callerLine("%s %s %s", what, e.Code, e.Reason)
	} else if err != nil {
		c.tape.callerLine("%s %v", what, err)
	}
}

// cancel cancels as the user does. Of two cancels in one step only the first is sure of its outcome ("cancel r1,again
// REASON"). The step waits for a call that is being cancelled, which may take the tenth of a second for which its
// delivery is awaited.
func (c *cell) cancel(id, reason string) {
	c.t.Helper()
	if id == "start" {
		for _, r := range c.hub.Requests("s") {
			if r.Method == "initialize" {
				_, err := c.hub.CancelRequest(r.ID, "", reason, event.OriginUser)
				c.report("cancel of the start:", err)
			}
		}
		return
	}
	id, again := strings.CutSuffix(id, ",again")
	outcome, err := c.hub.CancelRequest(id, "", reason, event.OriginUser)
	c.report("cancel of "+id+":", err)
	if outcome == event.OutcomeUnknown || outcome == event.OutcomeAlreadyFinished && !again {
		c.tape.callerLine("cancel of %s: %s", id, outcome)
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(id, "r")); err == nil && outcome == event.OutcomeCancelling {
		c.ending = append(c.ending, c.calls[n-1])
	}
}

// accepted are valid answers, by the kind of the prompt.
var accepted = map[event.PromptKind]string{
	event.PromptElicitationForm: `{"name":"I"}`,
	event.PromptSampling:        `{"role":"assistant","content":{"type":"text","text":"I"},"model":"m"}`,
}

// answer answers a prompt: the one that is named, or the only one that is open, or the only open one of a kind.
func (c *cell) answer(action, which string) {
	c.t.Helper()
	p := c.view.prompt(which)
	a := event.PromptAnswer{PromptID: p.ID, Action: map[string]event.Action{"accept": event.ActionAccept,
		"decline": event.ActionDecline, "dismiss": event.ActionDismiss}[action]}
	if action == "accept" {
		a.Content = accepted[p.Kind]
	}
	c.report(action+":", c.view.win.Answer(a))
}

// misbehave says what the HTTP server does with the next request of a kind, or with each: "POST tools/call: cut 2".
func (c *cell) misbehave(text string) {
	c.t.Helper()
	what, how, _ := strings.Cut(text, ": ")
	what, each := strings.CutPrefix(what, "each ")
	n := 1
	if each {
		n = 0
	}
	word, rest, _ := strings.Cut(how, " ")
	number, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	var a fakeserver.Act
	switch word {
	case "silent":
		a.Silent = true
	case "held":
		held := make(chan struct{})
		a.Hold, c.release = held, func() { close(held) }
	case "end":
		a.EndAfter = number
	case "cut":
		a.CutAfter = number
	case "status":
		a.Status = number
		c.ended = c.ended || what == "GET" // nothing of a session goes on without its streams
		if number == http.StatusTooManyRequests {
			a.Header = map[string]string{"Retry-After": "30"}
		}
	default:
		c.t.Fatalf("the server cannot do %q", how)
	}
	c.http.On(what, n, a)
}
