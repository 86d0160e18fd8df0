//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// sleepLong are arguments of the tool sleep: progress soon, and an end that no test waits for.
const sleepLong = `{"seconds":300,"steps":1000}`

func withID(id string) func(*mcphubv1.CallToolRequest) {
	return func(r *mcphubv1.CallToolRequest) { r.RequestId = id }
}

// cancelRequest cancels as a host does.
func (d *door) cancelRequest(id, reason string) mcphubv1.CancelOutcome {
	d.t.Helper()
	r, err := d.Hub.CancelRequest(d.ctx, &mcphubv1.CancelRequestRequest{RequestId: id, Reason: reason})
	if err != nil {
		d.t.Fatal(err)
	}
	return r.GetOutcome()
}

// TestHostCancels: all ways in which a host ends calls, over the real door, one after the other on one hub: before the
// call has come, while a user is asked to approve it, by the end of the gRPC call, by the end of the window that owns
// it, by scope, and by Drain, which also stops the servers. Lower tests show what each of them means; this one shows
// that the program offers them.
func TestHostCancels(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.demo("legacy"))
	e.Approvals = map[string]string{"*": "allow", "stubborn": "ask"}
	d := p.open(servers{"demo": e, "fake": p.fake()})
	w := d.window("side bar")
	cancels := 0

	// The cancel overtakes its call. It is kept for one call.
	if o := d.cancelRequest("early", "never mind"); o != mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN {
		t.Errorf("outcome %v", o)
	}
	c := d.call("demo", "sleep", sleepLong, withID("early"))
	if f := c.fails("CANCELLED", "CANCELLED"); f.Meta["cancel_reason"] != "never mind" || f.Meta["origin"] != "host" {
		t.Errorf("the caller was told %+v", f)
	}
	cancelled(t, w, "early", mcphubv1.Origin_ORIGIN_HOST, "never mind")
	if text := d.call("demo", "echo", `{"text":"x"}`, withID("early")).text(); text != "x" {
		t.Errorf("result %q", text)
	}

	// During approval.
	c = d.call("demo", "stubborn", `{"ms":1}`)
	card := w.WaitPrompt(approval)
	if o := d.cancelRequest(c.id, "no need"); o != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
		t.Errorf("outcome %v", o)
	}
	c.fails("CANCELLED", "CANCELLED")
	if e := w.WaitClosed(card.GetPromptId()); e.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_PARENT {
		t.Errorf("closed %v", e)
	}
	if e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_HOST, "no need"); e.GetServerNotified() ||
		e.GetWireIdJson() != "" {
		t.Errorf("told %v", e)
	}
	d.echoes("demo", "still there")
	if sent := wire.all(func(m message) bool {
		return callOf("sleep")(m) || callOf("stubborn")(m) || isCancel(true)(m)
	}); len(sent) != 0 {
		t.Errorf("the server was sent %v", sent)
	}

	// The end of the gRPC call.
	ctx, cancel := context.WithCancelCause(d.ctx)
	over := make(chan error, 1)
	go func() {
		_, err := d.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{RequestId: "mine", Server: "demo", Tool: "sleep",
			ArgumentsJson: sleepLong})
		over <- err
	}()
	progressed(w, "mine")
	cancel(errors.New("the editor's task was stopped"))
	if f, ok := host.ErrorOf(<-over); !ok || f.Code != "CANCELLED" {
		t.Errorf("the caller got %+v", f)
	}
	end := w.WaitTerminal("mine").GetMcpRequestCancelled()
	if end.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_HOST || !delivered(w, "mine") {
		t.Errorf("told %v", end)
	}
	d.echoes("demo", "still there")
	wire.cancelled(end.GetWireIdJson(), end.GetCancellation().GetReason())
	cancels++

	// The end of the window that owns the call.
	owner := d.window("page")
	c = d.call("demo", "sleep", sleepLong, func(r *mcphubv1.CallToolRequest) { r.OwnerWindowId = owner.ID() })
	progressed(w, c.id)
	if err := owner.Close(); err != nil {
		t.Error(err)
	}
	f := c.fails("CANCELLED", "CANCELLED")
	end = cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_HOST, f.Meta["cancel_reason"])
	d.echoes("demo", "still there")
	wire.cancelled(end.GetWireIdJson(), f.Meta["cancel_reason"])
	cancels++

	cancels += stopsByScope(t, d, w)
	d.echoes("demo", "still there")
	if n := len(wire.all(isCancel(true))); n != cancels {
		t.Errorf("%d cancels on the wire, not %d", n, cancels)
	}
	drains(t, p, d, w)
}

// stopsByScope stops calls by task label, server, and all. It returns how many were of the server demo.
func stopsByScope(t *testing.T, d *door, w *fakeeditor.Window) (ofDemo int) {
	t.Helper()
	begin := func(server, tool, label string) *call {
		c := d.call(server, tool, `{}`, func(r *mcphubv1.CallToolRequest) { r.TaskLabel = label })
		w.WaitRequest(c.id, running)
		return c
	}
	a, b, c := begin("demo", "sleep", "one"), begin("fake", "hang", "one"), begin("fake", "hang", "two")
	stop := func(r *mcphubv1.CancelRequestsRequest, want ...*call) {
		t.Helper()
		r.Reason = "stop"
		got, err := d.Hub.CancelRequests(d.ctx, r)
		var ids []string
		for _, c := range want {
			c.fails("CANCELLED", "CANCELLED")
			cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_HOST, "stop")
			ids = append(ids, c.id)
		}
		if err != nil || !slices.Equal(got.GetRequestIds(), ids) {
			t.Errorf("%v stopped %v, %v; want %v", r, got.GetRequestIds(), err, ids)
		}
	}
	stop(&mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_TaskLabel{TaskLabel: "one"}}, a, b)
	e := begin("demo", "sleep", "")
	stop(&mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_Server{Server: "demo"}}, e)
	stop(&mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_All{All: true}}, c)
	if _, err := d.Hub.CancelRequests(d.ctx, &mcphubv1.CancelRequestsRequest{}); err == nil {
		t.Error("no scope was accepted")
	}
	return 2
}

// drains checks that Drain cancels what runs with its reason, refuses what comes, and stops the servers.
func drains(t *testing.T, p *place, d *door, w *fakeeditor.Window) {
	t.Helper()
	sleeping := d.call("demo", "sleep", sleepLong)
	progressed(w, sleeping.id)
	asking := d.call("demo", "ask_name", `{}`)
	card := w.WaitPrompt(form)
	if _, err := d.Hub.Drain(d.ctx, &mcphubv1.DrainRequest{Reason: "the editor closes"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*call{sleeping, asking} {
		c.fails("CANCELLED", "CANCELLED")
		cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_SHUTDOWN, "the editor closes")
	}
	if e := w.WaitClosed(card.GetPromptId()); e.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_SHUTDOWN &&
		e.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_PARENT {
		t.Errorf("closed %v", e)
	}
	if f := d.call("demo", "echo", `{"text":"x"}`).fails("UNAVAILABLE", "DRAINING"); f.Message == "" {
		t.Errorf("refused with %+v", f)
	}
	heard := 0
	for _, reason := range p.reasonsHeard() {
		if reason == "the editor closes" {
			heard++
		}
	}
	if heard != 2 {
		t.Errorf("the server heard %q", p.reasonsHeard())
	}
	found := p.Processes()
	delete(found, d.PID())
	for _, guard := range guards(found) { // it exits with the hub
		delete(found, guard)
	}
	if len(found) != 0 {
		t.Errorf("processes are left after Drain: %v", found)
	}
}

// TestTwoWindows: of two windows that answer at once one takes the question, and the other is told. A window that
// resumes in the middle of a question finds it open, and gets what happened meanwhile.
func TestTwoWindows(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openDemo(t, "legacy")
	windows := []*fakeeditor.Window{w, d.window("panel")}
	for round := range 5 {
		c := d.call("demo", "ask_name", `{}`)
		id := w.WaitPrompt(form).GetPromptId()
		windows[1].WaitShown(id)
		replies := make([]*mcphubv1.Reply, len(windows))
		var group sync.WaitGroup
		for i, w := range windows {
			group.Go(func() { replies[i] = w.Accept(id, fmt.Sprintf(`{"name":"window %d"}`, i)) })
		}
		group.Wait()
		winner := slices.IndexFunc(replies, func(r *mcphubv1.Reply) bool { return r.GetError() == nil })
		if winner < 0 || replies[1-winner].GetError().GetReason() != "PROMPT_CLOSED" {
			t.Fatalf("round %d: replies %v", round, replies)
		}
		if text := c.text(); text != fmt.Sprintf("Hello, window %d!", winner) {
			t.Errorf("round %d: window %d took the question; result %q", round, winner, text)
		}
		for _, w := range windows {
			if e := w.WaitClosed(id); e.GetWindowId() != windows[winner].ID() {
				t.Errorf("round %d: closed %v", round, e)
			}
		}
		wire.one("the answer", answerTo(wire.all(asked("elicitation/create"))[round]))
	}

	c := d.call("demo", "ask_name", `{}`)
	id := w.WaitPrompt(form).GetPromptId()
	w.Break()
	d.echoes("demo", "meanwhile")
	back := d.windowWith(fakeeditor.Options{Title: "side bar", Back: w})
	if back.ID() != w.ID() {
		t.Errorf("it is back as %s", back)
	}
	back.WaitEvent("the echo of meanwhile", func(e *mcphubv1.AttachResponse) bool {
		return slices.ContainsFunc(e.GetSnapshot().GetHistory(), func(ended *mcphubv1.EndedRequest) bool {
			return ended.GetFinished().GetTool() == "echo"
		})
	})
	if open := back.Prompts(); len(open) != 1 || open[0].GetPromptId() != id {
		t.Errorf("open prompts %v", open)
	}
	takes(t, back.Accept(id, `{"name":"Ada"}`))
	if text := c.text(); text != "Hello, Ada!" {
		t.Errorf("result %q", text)
	}
}
