//go:build unix

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// openEverything opens a hub with the reference server behind a recorder, and a window that shows everything.
func openEverything(t *testing.T) (*door, *fakeeditor.Window, *wire) {
	t.Helper()
	p := newPlace(t)
	e, w := p.proxied(p.everything())
	d := p.open(servers{"everything": e})
	return d, d.window("side bar"), w
}

func toolNames(t *testing.T, d *door, server string) []string {
	t.Helper()
	r, err := d.Servers.ListTools(d.ctx, &mcphubv1.ListToolsRequest{Server: server})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range r.GetTools() {
		names = append(names, tool.GetName())
		if tool.GetServer() != server || tool.GetDefinitionHash() == "" || !strings.HasPrefix(tool.GetDefinitionJson(), "{") {
			t.Errorf("tool %v", tool)
		}
	}
	return names
}

// TestEverythingToolsList: the server lists what fits the capabilities that were declared to it. Without a window
// nobody can be asked; once there is one, the hub connects anew, since a legacy server is told capabilities only once.
func TestEverythingToolsList(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.open(servers{"everything": p.everything()})
	always, conditional := []string{"echo", "get-sum", "trigger-long-running-operation"},
		[]string{"trigger-sampling-request", "trigger-elicitation-request"}
	alone := toolNames(t, d, "everything")
	for _, name := range always {
		if !slices.Contains(alone, name) {
			t.Errorf("without a window %s is missing: %q", name, alone)
		}
	}
	for _, name := range conditional {
		if slices.Contains(alone, name) {
			t.Errorf("without a window %s is listed", name)
		}
	}
	before := d.server("everything")
	if before.GetEra() != mcphubv1.Era_ERA_LEGACY || before.GetProtocolRevision() != "2025-11-25" {
		t.Errorf("era %v, revision %s", before.GetEra(), before.GetProtocolRevision())
	}

	w := d.window("side bar")
	w.WaitEvent("the server, ready in a new process", func(e *mcphubv1.AttachResponse) bool {
		s := e.GetServerChanged().GetServer()
		return s.GetState() == mcphubv1.ServerState_SERVER_STATE_READY && s.GetProcessId() != before.GetProcessId()
	})
	shown := toolNames(t, d, "everything")
	for _, name := range slices.Concat(always, conditional) {
		if !slices.Contains(shown, name) {
			t.Errorf("with a window %s is missing: %q", name, shown)
		}
	}
}

func TestEverythingLongRunningWithProgress(t *testing.T) {
	t.Parallel()
	d, w, _ := openEverything(t)
	c := d.call("everything", "trigger-long-running-operation", `{"duration":1,"steps":4}`)
	if text := c.text(); !strings.Contains(text, "Duration: 1 seconds, Steps: 4") {
		t.Errorf("result: %q", text)
	}
	end := w.WaitTerminal(c.id).GetMcpRequestFinished()
	if end.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE || end.GetIsError() {
		t.Errorf("the end: %v", end)
	}
	// Newer progress may replace older; the last event has the last value.
	var steps []float64
	for _, e := range w.Events() {
		if p := e.GetMcpRequestProgressed(); p.GetRequestId() == c.id && p.GetProgress() != nil {
			if p.GetProgress().GetTotal() != 4 {
				t.Errorf("total %v", p.GetProgress())
			}
			steps = append(steps, p.GetProgress().GetProgress())
		}
	}
	if len(steps) == 0 || !slices.IsSorted(steps) || steps[len(steps)-1] != 4 {
		t.Errorf("progress %v", steps)
	}
}

// TestEverythingCancelCarriesReason: after a cancel this server works on, sends progress, and never answers. The
// session goes on.
func TestEverythingCancelCarriesReason(t *testing.T) {
	t.Parallel()
	const reason = `no longer needed: "é" 中`
	d, w, wire := openEverything(t)
	c := d.call("everything", "trigger-long-running-operation", `{"duration":30,"steps":300}`)
	progressed(w, c.id)
	before := d.server("everything").GetProcessId()
	cancels(t, w, c.id, reason)
	if f := c.fails("CANCELLED", "CANCELLED"); f.Meta["origin"] != "user" || f.Meta["cancel_reason"] != reason {
		t.Errorf("the caller was told %+v", f)
	}
	e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, reason)
	d.echoes("everything", "still there")
	wire.cancelledOnce("trigger-long-running-operation", reason)
	if id := string(wire.one("the call", callOf(c.tool)).ID); !e.GetServerNotified() || !e.GetServerMayContinue() ||
		e.GetWireIdJson() != id {
		t.Errorf("the window was told %v; the wire id was %s", e, id)
	}
	if r := w.CancelRequest(c.id,
		"again"); r.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED {
		t.Errorf("a second cancel: %v", r)
	}
	d.echoes("everything", "and again")
	if n := len(wire.all(isCancel(true))); n != 1 {
		t.Errorf("%d cancels on the wire", n)
	}
	if after := d.server("everything").GetProcessId(); after != before {
		t.Errorf("process %d became %d", before, after)
	}
}

func TestEverythingSampling(t *testing.T) {
	t.Parallel()
	const completion = `{"role":"assistant","content":{"type":"text","text":"a well-made haiku"},"model":"test-model","stopReason":"endTurn"}`
	d, w, wire := openEverything(t)

	c := d.call("everything", "trigger-sampling-request", `{"prompt":"write a haiku","maxTokens":77}`)
	p := w.WaitPrompt(sampling)
	if p.GetParentRequestId() != c.id || !strings.Contains(p.GetSampling().GetRequestJson(), "write a haiku") {
		t.Errorf("prompt %v", p)
	}
	takes(t, w.Accept(p.GetPromptId(), completion))
	if text := c.text(); !strings.Contains(text, "a well-made haiku") || !strings.Contains(text, "test-model") {
		t.Errorf("result %q", text)
	}
	question := wire.one("the question", asked("sampling/createMessage"))
	if a := wire.one("the answer", answerTo(question)); string(a.Result) != completion {
		t.Errorf("the server was answered %v", a)
	}

	c = d.call("everything", "trigger-sampling-request", `{"prompt":"write another"}`)
	p = w.WaitPrompt(sampling)
	takes(t, w.Decline(p.GetPromptId(), "not today"))
	if a := c.answer(); !a.GetIsError() || !strings.Contains(a.GetResultJson(), "-1") {
		t.Errorf("a declined sampling: %v", a)
	}
	if e := w.WaitClosed(p.GetPromptId()); e.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED {
		t.Errorf("closed: %v", e)
	}
	if a := wire.one("the answer", answerTo(wire.all(asked("sampling/createMessage"))[1])); a.Error == nil ||
		a.Error.Code != -1 {
		t.Errorf("the server was answered %v", a)
	}
}

func TestEverythingElicitation(t *testing.T) {
	t.Parallel()
	d, w, wire := openEverything(t)
	cases := []struct {
		name   string
		answer func(id string) *mcphubv1.Reply
		cause  mcphubv1.PromptCause
		result string // on the wire
		text   string
	}{
		{"accepted", func(id string) *mcphubv1.Reply { return w.Accept(id, `{"name":"Ada Lovelace","integer":7}`) },
			mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED, `{"action":"accept","content":{"name":"Ada Lovelace","integer":7}}`,
			"Name: Ada Lovelace"},
		{"declined", func(id string) *mcphubv1.Reply { return w.Decline(id, "") },
			mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED, `{"action":"decline"}`, "User declined"},
		{"dismissed", func(id string) *mcphubv1.Reply { return w.Dismiss(id) },
			mcphubv1.PromptCause_PROMPT_CAUSE_DISMISSED, `{"action":"cancel"}`, "User cancelled"},
	}
	for i, test := range cases {
		c := d.call("everything", "trigger-elicitation-request", `{}`)
		p := w.WaitPrompt(form)
		if i == 0 {
			// Content that does not fit the form is refused, and the prompt stays open.
			for _, wrong := range []string{`{}`, `{"name":"Ada","integer":1000}`, `{"name":7}`, `[]`, `no json`} {
				if r := w.Accept(p.GetPromptId(), wrong); r.GetError().GetReason() != "INVALID_CONTENT" {
					t.Errorf("content %s: %v", wrong, r)
				}
			}
		}
		takes(t, test.answer(p.GetPromptId()))
		if text := c.text(); !strings.Contains(text, test.text) {
			t.Errorf("%s: result %q", test.name, text)
		}
		if e := w.WaitClosed(p.GetPromptId()); e.GetCause() != test.cause || e.GetWindowId() != w.ID() {
			t.Errorf("%s: closed %v", test.name, e)
		}
		if a := wire.one("the answer", answerTo(wire.all(asked("elicitation/create"))[i])); string(a.Result) != test.result {
			t.Errorf("%s: the server was answered %v", test.name, a)
		}
	}
}

// TestEverythingParentCancelClosesPrompt: this server does not withdraw its question when its call is cancelled. The
// hub closes the prompt at once, and answers for the user a moment later.
func TestEverythingParentCancelClosesPrompt(t *testing.T) {
	t.Parallel()
	d, w, wire := openEverything(t)
	panel := d.window("panel")
	c := d.call("everything", "trigger-sampling-request", `{"prompt":"write a novel"}`)
	p := w.WaitPrompt(sampling)
	panel.WaitShown(p.GetPromptId()) // a window that has not been told of a question yet is not told of its end
	cancels(t, w, c.id, "changed my mind")
	for _, w := range []*fakeeditor.Window{w, panel} {
		if e := w.WaitClosed(p.GetPromptId()); e.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_PARENT ||
			e.GetOrigin() != mcphubv1.Origin_ORIGIN_PARENT {
			t.Errorf("the prompt closed with %v", e)
		}
		cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "changed my mind")
		cancelled(t, w, p.GetRequestId(), mcphubv1.Origin_ORIGIN_PARENT, "changed my mind")
	}
	c.fails("CANCELLED", "CANCELLED")
	if r := w.Accept(p.GetPromptId(),
		`{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}`); r.GetError().
		GetReason() != "PROMPT_CLOSED" {
		t.Errorf("a late answer: %v", r)
	}
	question := wire.one("the question", asked("sampling/createMessage"))
	if a := wire.await("the answer", answerTo(question)); a.Error == nil || a.Error.Code != -1 {
		t.Errorf("the server was answered %v", a)
	}
	d.echoes("everything", "still there")
	wire.cancelledOnce("trigger-sampling-request", "changed my mind")
	wire.one("the answer", answerTo(question))
}

func TestEverythingRoots(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.everything())
	d := p.open(servers{"everything": e})
	w := d.windowWith(fakeeditor.Options{Title: "side bar", Roots: []*mcphubv1.Root{{Uri: "file:///projects/one",
		Name: "one"}}})
	if text := d.call("everything", "get-roots-list", `{}`).text(); !strings.Contains(text, "file:///projects/one") ||
		!strings.Contains(text, "(1 total)") {
		t.Errorf("roots: %q", text)
	}
	d.windowWith(fakeeditor.Options{Title: "panel", Roots: []*mcphubv1.Root{{Uri: "file:///projects/two"}}})
	if r := w.SetRoots(&mcphubv1.Root{Uri: "file:///projects/three", Name: "three"}); r.GetError() != nil {
		t.Fatal(r)
	}
	wire.await("the change", func(m message) bool { return m.toServer && m.Method == "notifications/roots/list_changed" })
	until(t, "the server has the roots of both windows", func() bool {
		text := d.call("everything", "get-roots-list", `{}`).text()
		return strings.Contains(text, "file:///projects/two") && strings.Contains(text, "file:///projects/three") &&
			!strings.Contains(text, "file:///projects/one")
	})
}

func TestEverythingLogging(t *testing.T) {
	t.Parallel()
	d, w, wire := openEverything(t)
	if _, err := d.Servers.SetLogLevel(d.ctx, &mcphubv1.SetLogLevelRequest{Server: "everything",
		Level: "debug"}); err != nil {
		t.Fatal(err)
	}
	if m := wire.one("the level", func(m message) bool {
		return m.Method == "logging/setLevel"
	}); !strings.Contains(m.raw, `"level":"debug"`) {
		t.Errorf("%v", m)
	}
	if text := d.call("everything", "toggle-simulated-logging", `{}`).text(); !strings.Contains(text,
		"Started simulated") {
		t.Errorf("result %q", text)
	}
	log := w.WaitEvent("a log message", func(e *mcphubv1.AttachResponse) bool {
		return strings.Contains(strings.ToLower(e.GetLogMessage().GetDataJson()), "level")
	}).GetLogMessage()
	levels := []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	if log.GetServer() != "everything" || !slices.Contains(levels, log.GetLevel()) ||
		!strings.HasPrefix(log.GetDataJson(), `"`) {
		t.Errorf("log message %v", log)
	}
	if text := d.call("everything", "toggle-simulated-logging", `{}`).text(); !strings.Contains(text,
		"Stopped simulated") {
		t.Errorf("result %q", text)
	}
	c := d.call("everything", "no-such-tool", `{}`)
	if f := c.fails("NOT_FOUND", "TOOL_NOT_FOUND"); !strings.Contains(f.Message, "no-such-tool") {
		t.Errorf("an unknown tool: %+v", f)
	}
}

// TestToolsAreThoseOfACall: this server lists some tools only for clients that can be asked. A call can be, so mcphub
// tools lists these, too.
func TestToolsAreThoseOfACall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.run("tools", "--stdio", p.everything().line())
	if r.status != 0 || !strings.Contains(r.stdout, "trigger-sampling-request") {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}
