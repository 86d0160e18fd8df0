//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// sentNothing checks that a server was sent neither a call of this tool nor a cancel.
func sentNothing(t *testing.T, wire *wire, tool string) {
	t.Helper()
	if sent := wire.all(func(m message) bool { return callOf(tool)(m) || isCancel(true)(m) }); len(sent) != 0 {
		t.Errorf("the server was sent %v", sent)
	}
}

// TestCancelOvertakesCall: a cancel that comes before its own call is kept for it.
func TestCancelOvertakesCall(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openDemo(t, "legacy")
	if o := d.cancelRequest("early", "never mind"); o != mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN {
		t.Errorf("outcome %v", o)
	}
	c := d.call("demo", "sleep", sleepLong, withID("early"))
	if f := c.fails("CANCELLED", "CANCELLED"); f.Meta["cancel_reason"] != "never mind" || f.Meta["origin"] != "host" {
		t.Errorf("the caller was told %+v", f)
	}
	cancelled(t, w, "early", mcphubv1.Origin_ORIGIN_HOST, "never mind")
	d.echoes("demo", "still there")
	sentNothing(t, wire, "sleep")
	// It was kept for one call.
	again := d.call("demo", "echo", `{"text":"x"}`, withID("early"))
	if text := again.text(); text != "x" {
		t.Errorf("result %q", text)
	}
}

// TestCancelDuringApproval: the approval prompt closes, and nothing of the call is sent to the server.
func TestCancelDuringApproval(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.demo("legacy"))
	e.Approvals = map[string]string{"*": "allow", "sleep": "ask"}
	d := p.open(servers{"demo": e})
	w := d.window("side bar")
	c := d.call("demo", "sleep", sleepLong)
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
	sentNothing(t, wire, "sleep")
}

// TestCancelDuringConnect: the call ends at once; the start of the server, for which others may wait, goes on.
func TestCancelDuringConnect(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(quick(p.fake("-mute", "initialize")))
	d := p.open(servers{"fake": e})
	w := d.window("side bar")
	c := d.call("fake", "echo", `{"text":"x"}`)
	wire.await("the handshake", func(m message) bool { return m.Method == "initialize" })
	cancels(t, w, c.id, "too slow a start")
	c.fails("CANCELLED", "CANCELLED")
	if e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "too slow a start"); e.GetServerNotified() {
		t.Errorf("told %v", e)
	}
	if s := d.server("fake").GetState(); s != mcphubv1.ServerState_SERVER_STATE_CONNECTING {
		t.Errorf("the server is %v", s)
	}
	if _, err := d.Servers.StopServer(d.ctx, &mcphubv1.StopServerRequest{Server: "fake"}); err != nil {
		t.Error(err)
	}
	sentNothing(t, wire, "echo")
}

// TestHostCancelsItsOwnCall: the end of the gRPC call is a cancel.
func TestHostCancelsItsOwnCall(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openDemo(t, "legacy")
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
	e := w.WaitTerminal("mine").GetMcpRequestCancelled()
	if e.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_HOST || !e.GetServerNotified() {
		t.Errorf("told %v", e)
	}
	d.echoes("demo", "still there")
	wire.cancelledOnce("sleep", e.GetCancellation().GetReason())
}

// TestStopButton: CancelRequests stops what is in its scope, and nothing else.
func TestStopButton(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.open(servers{"demo": p.demo(""), "fake": p.fake()})
	w := d.window("side bar")
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
}

// TestTwoWindowsAnswerAtOnce: one of them takes the question.
func TestTwoWindowsAnswerAtOnce(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openDemo(t, "legacy")
	windows := []*fakeeditor.Window{w, d.window("panel")}
	for round := range 20 {
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
}

// TestWindowComesBackMidPrompt: a window that resumes finds the prompt still open, and gets what happened meanwhile.
func TestWindowComesBackMidPrompt(t *testing.T) {
	t.Parallel()
	_, d, w, _ := openDemo(t, "legacy")
	c := d.call("demo", "ask_name", `{}`)
	id := w.WaitPrompt(form).GetPromptId()
	w.Break()
	d.echoes("demo", "meanwhile")
	back := d.windowWith(fakeeditor.Options{Title: "side bar", Resume: w})
	if !back.Resumed() || back.ID() != w.ID() {
		t.Errorf("resumed: %v, as %s", back.Resumed(), back)
	}
	back.WaitEvent("the echo of meanwhile", func(e *mcphubv1.AttachResponse) bool {
		return e.GetMcpRequestFinished().GetTool() == "echo"
	})
	if open := back.Prompts(); len(open) != 1 || open[0].GetPromptId() != id {
		t.Errorf("open prompts %v", open)
	}
	takes(t, back.Accept(id, `{"name":"Ada"}`))
	if text := c.text(); text != "Hello, Ada!" {
		t.Errorf("result %q", text)
	}
}

// TestOwnerWindowCloses: a call that belongs to a window ends with it.
func TestOwnerWindowCloses(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openDemo(t, "legacy")
	owner := d.window("page")
	c := d.call("demo", "sleep", sleepLong, func(r *mcphubv1.CallToolRequest) { r.OwnerWindowId = owner.ID() })
	progressed(w, c.id)
	if err := owner.Close(); err != nil {
		t.Error(err)
	}
	f := c.fails("CANCELLED", "CANCELLED")
	cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_HOST, f.Meta["cancel_reason"])
	d.echoes("demo", "still there")
	wire.cancelledOnce("sleep", f.Meta["cancel_reason"])
}

// TestDrain: running calls are cancelled with the reason, the servers are sent it and are stopped, new calls are
// refused, and windows are told all of it.
func TestDrain(t *testing.T) {
	t.Parallel()
	p, d, w, wire := openDemo(t, "legacy")
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
	if got := p.reasonsHeard(); !slices.Equal(got, []string{"the editor closes", "the editor closes"}) {
		t.Errorf("the server heard %q", got)
	}
	if n := len(wire.all(isCancel(true))); n != 2 {
		t.Errorf("%d cancels", n)
	}
	found := p.processes()
	delete(found, d.PID())
	for _, guard := range guards(found) { // it exits with the hub
		delete(found, guard)
	}
	if len(found) != 0 {
		t.Errorf("processes are left after Drain: %v", found)
	}
}

// TestBadInput: each wrong input gets a clear error, and everything else goes on.
func TestBadInput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.open(servers{"demo": p.demo("legacy"), "asking": asking(p.demo("legacy"))})
	d.call("asking", "echo", `{"text":"x"}`).fails("FAILED_PRECONDITION", "NO_APPROVER")
	w := d.window("side bar")
	d.call("demo", "echo", `["no object"]`).fails("INVALID_ARGUMENT", "INVALID_ARGUMENTS")
	d.call("demo", "echo", `{"text":`).fails("INVALID_ARGUMENT", "INVALID_ARGUMENTS")
	d.call("nobody", "echo", `{}`).fails("NOT_FOUND", "SERVER_NOT_FOUND")
	d.call("demo", "nothing", `{}`).fails("NOT_FOUND", "TOOL_NOT_FOUND")
	d.call("demo", "", `{}`).fails("INVALID_ARGUMENT", "INVALID_REQUEST")
	d.call("demo", "echo", `{}`, withID(strings.Repeat("x", 200))).fails("INVALID_ARGUMENT", "INVALID_REQUEST")
	if r := w.Accept("prompt-4711", ""); r.GetError().GetCode() != "NOT_FOUND" ||
		r.GetError().GetReason() != "PROMPT_NOT_FOUND" {
		t.Errorf("an unknown prompt: %v", r)
	}
	if r := w.CancelRequest("unknown", "x"); r.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN ||
		r.GetError() != nil {
		t.Errorf("an unknown request: %v", r)
	}
	first := d.call("demo", "sleep", sleepLong, withID("same"))
	progressed(w, "same")
	d.call("demo", "echo", `{"text":"x"}`, withID("same")).fails("ALREADY_EXISTS", "REQUEST_ID_IN_USE")
	if s := w.Requests()["same"]; s == nil {
		t.Error("the first call with the id is gone")
	}
	cancels(t, w, "same", "enough")
	if r := w.CancelRequest("same", "twice"); r.GetError() != nil ||
		r.GetCancelOutcome() == mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN {
		t.Errorf("a second cancel: %v", r)
	}
	first.fails("CANCELLED", "CANCELLED")
	cancelled(t, w, "same", mcphubv1.Origin_ORIGIN_USER, "enough")
	d.echoes("demo", "still there")
}
