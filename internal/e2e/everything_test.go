//go:build unix

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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

// TestEverything: the reference server over stdio, behind a recorder: what it lists, progress, sampling, elicitation,
// roots, logs, and what becomes of a call that is cancelled, one after the other on one connection.
func TestEverything(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.everything())
	e.Env = map[string]string{"GORACE": atOnce["GORACE"], "WANTED": "this one"}
	d, _ := p.openLogged(servers{"everything": e}, "VSCODE_IPC_HOOK=x", "ELECTRON_RUN_AS_NODE=1", "EDITOR_TOKEN=x",
		"PLUGIN_SOMETHING=x")
	w := everythingLists(t, d)
	wire.forget()
	everythingHidesTheHost(t, d)
	everythingReports(t, d, w)
	everythingSamples(t, d, w, wire)
	everythingElicits(t, d, w, wire)
	everythingHasRoots(t, d, w, wire)
	everythingLogs(t, d, w, wire)
	everythingKeepsItsQuestion(t, d, w, wire)
	everythingIsCancelled(t, d, w, wire) // last: what it would ask afterwards may be of the call that it works on
}

// everythingLists: the server lists what fits the capabilities that were declared to it. Without a window nobody can be
// asked; once there is one, the hub connects anew, since a legacy server is told capabilities only once.
func everythingLists(t *testing.T, d *door) *fakeeditor.Window {
	t.Helper()
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

	w := d.windowWith(fakeeditor.Options{Title: "side bar", SamplingTools: true,
		Roots: []*mcphubv1.Root{{Uri: "file:///projects/one", Name: "one"}}})
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
	return w
}

// everythingHidesTheHost: the server, which shows its whole environment, does not get the host's variables from that of
// the hub.
func everythingHidesTheHost(t *testing.T, d *door) {
	t.Helper()
	text := d.call("everything", "get-env", `{}`).text()
	if !strings.Contains(text, "WANTED") || !strings.Contains(text, "PATH") {
		t.Errorf("the server misses what it needs: %s", text)
	}
	text = strings.Replace(text, process.MarkerVariable, "", 1) // what its processes are found by
	for _, name := range []string{"PLUGIN_", handshake.CookieKey, "VSCODE_", "ELECTRON_", "EDITOR_TOKEN", "MCPHUB_"} {
		if strings.Contains(text, name) {
			t.Errorf("the server sees %s: %s", name, text)
		}
	}
}

// everythingReports: progress until the end.
func everythingReports(t *testing.T, d *door, w *fakeeditor.Window) {
	t.Helper()
	c := d.call("everything", "trigger-long-running-operation", `{"duration":1,"steps":4}`)
	if text := c.text(); !strings.Contains(text, "Duration: 1 seconds, Steps: 4") {
		t.Errorf("result: %q", text)
	}
	end := w.WaitTerminal(c.id).GetMcpRequestFinished()
	if end.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE || end.GetIsError() {
		t.Errorf("the end: %v", end)
	}
	// Newer progress may replace older; the last event has the last value.
	steps := progressOf(w, c.id)
	if len(steps) == 0 || !slices.IsSorted(steps) || steps[len(steps)-1] != 4 {
		t.Errorf("progress %v", steps)
	}
}

// progressOf returns the values of a request's progress that a window was shown.
func progressOf(w *fakeeditor.Window, id string) (steps []float64) {
	for _, e := range w.Events() {
		if p := e.GetMcpRequestProgressed(); p.GetRequestId() == id && p.GetProgress() != nil {
			steps = append(steps, p.GetProgress().GetProgress())
		}
	}
	return steps
}

// everythingSamples: a completion that a person accepts, and one that a person declines.
func everythingSamples(t *testing.T, d *door, w *fakeeditor.Window, wire *wire) {
	t.Helper()
	const completion = `{"role":"assistant","content":{"type":"text","text":"a well-made haiku"},"model":"test-model","stopReason":"endTurn"}`

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

// everythingElicits: a form that is accepted, declined and dismissed; content that does not fit it is refused.
func everythingElicits(t *testing.T, d *door, w *fakeeditor.Window, wire *wire) {
	t.Helper()
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

// everythingHasRoots: the server is told the roots of all windows, and of their changes.
func everythingHasRoots(t *testing.T, d *door, w *fakeeditor.Window, wire *wire) {
	t.Helper()
	if text := d.call("everything", "get-roots-list", `{}`).text(); !strings.Contains(text, "file:///projects/one") ||
		!strings.Contains(text, "(1 total)") {
		t.Errorf("roots: %q", text)
	}
	other := d.windowWith(fakeeditor.Options{Title: "panel", Roots: []*mcphubv1.Root{{Uri: "file:///projects/two"}}})
	if r := w.SetRoots(&mcphubv1.Root{Uri: "file:///projects/three", Name: "three"}); r.GetError() != nil {
		t.Fatal(r)
	}
	wire.await("the change", func(m message) bool { return m.toServer && m.Method == "notifications/roots/list_changed" })
	until(t, "the server has the roots of both windows", func() bool {
		text := d.call("everything", "get-roots-list", `{}`).text()
		return strings.Contains(text, "file:///projects/two") && strings.Contains(text, "file:///projects/three") &&
			!strings.Contains(text, "file:///projects/one")
	})
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// everythingLogs: the server logs at the level that was asked for.
func everythingLogs(t *testing.T, d *door, w *fakeeditor.Window, wire *wire) {
	t.Helper()
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

// everythingIsCancelled: after a cancel this server works on, sends progress, and never answers. The session goes on.
func everythingIsCancelled(t *testing.T, d *door, w *fakeeditor.Window, wire *wire) {
	t.Helper()
	const reason = `no longer needed: "é" 中`
	c := d.call("everything", "trigger-long-running-operation", `{"duration":30,"steps":300}`)
	progressed(w, c.id)
	before := d.server("everything").GetProcessId()
	cancels(t, w, c.id, reason)
	if f := c.fails("CANCELLED", "CANCELLED"); f.Meta["origin"] != "user" || f.Meta["cancel_reason"] != reason {
		t.Errorf("the caller was told %+v", f)
	}
	e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, reason)
	d.echoes("everything", "still there")
	wire.cancelled(e.GetWireIdJson(), reason)
	if !delivered(w, c.id) || !mayContinue(e) {
		t.Errorf("the window was told %v", e)
	}
	if r := w.CancelRequest(c.id,
		"again"); r.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED {
		t.Errorf("a second cancel: %v", r)
	}
	d.echoes("everything", "and again")
	if n := len(wire.all(isCancel(true))); n != 2 { // one of the call before
		t.Errorf("%d cancels on the wire", n)
	}
	if after := d.server("everything").GetProcessId(); after != before {
		t.Errorf("process %d became %d", before, after)
	}
}

// everythingKeepsItsQuestion: this server does not withdraw its question when its call is cancelled. The hub closes the
// prompt at once, and answers for the user a moment later.
func everythingKeepsItsQuestion(t *testing.T, d *door, w *fakeeditor.Window, wire *wire) {
	t.Helper()
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
	questions := wire.all(asked("sampling/createMessage"))
	question := questions[len(questions)-1]
	if a := wire.await("the answer", answerTo(question)); a.Error == nil || a.Error.Code != -1 {
		t.Errorf("the server was answered %v", a)
	}
	d.echoes("everything", "still there")
	wire.cancelled(cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "changed my mind").GetWireIdJson(), "changed my mind")
	wire.one("the answer", answerTo(question))
}

// TestToolsAreThoseOfACall: this server lists some tools only for clients that can be asked. A call can be, so mcphub
// tools lists these, too.
func TestToolsAreThoseOfACall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	r := p.Run(p.command("tools", "--stdio", p.everything().line()))
	if r.Status != 0 || !strings.Contains(r.Stdout, "trigger-sampling-request") {
		t.Errorf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
}
