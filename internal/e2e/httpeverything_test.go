//go:build unix

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestHTTPEverything: server-everything over both transports that it has for a URL, behind a tap: progress, questions,
// resources, and a cancel, one after the other on one connection.
func TestHTTPEverything(t *testing.T) {
	for kind, open := range map[string]func(testing.TB) *peers.Server{"http": peers.EverythingHTTP,
		"sse": peers.EverythingSSE} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			between := newTap(t, s.URL+s.SSEURL)
			p := newPlace(t)
			d := p.open(servers{"everything": remote(kind, between.url+map[string]string{"http": "/mcp", "sse": "/sse"}[kind])})
			w := d.window("side bar")
			everythingReports(t, d, w)
			everythingAsksOverHTTP(t, d, w, between)
			everythingHasResources(t, d, w)
			everythingIsCancelledOverHTTP(t, d, w, between)
		})
	}
}

// everythingIsCancelledOverHTTP: this server works on and never answers. It is sent one cancel, with the reason.
func everythingIsCancelledOverHTTP(t *testing.T, d *door, w *fakeeditor.Window, between *tap) {
	t.Helper()
	const reason = "too slow for me"
	c := d.call("everything", "trigger-long-running-operation", `{"duration":30,"steps":300}`)
	progressed(w, c.id)
	cancels(t, w, c.id, reason)
	c.fails("CANCELLED", "CANCELLED")
	e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, reason)
	ours := func(m posted) bool {
		return m.Method == "notifications/cancelled" && string(m.Params.RequestID) == e.GetWireIdJson()
	}
	n := between.await("the cancel", ours)
	if n.Params.Reason == nil || *n.Params.Reason != reason ||
		!mayContinue(e) {
		t.Errorf("sent %+v; told %v", n, e)
	}
	d.echoes("everything", "still there")
	between.one("the cancel", ours)
	if n := len(between.all(func(m posted) bool { return m.Params.Name == c.tool })); n != 2 { // one ran to its end
		t.Errorf("%d calls were sent, not 2", n)
	}
}

// everythingAsksOverHTTP: elicitation accepted, declined and dismissed, and sampling; a cancel of the call closes the
// prompt, and the server, which does not withdraw its question, is answered once.
func everythingAsksOverHTTP(t *testing.T, d *door, w *fakeeditor.Window, between *tap) {
	t.Helper()
	for want, answer := range map[string]func(id string) *mcphubv1.Reply{
		"Name: Ada":      func(id string) *mcphubv1.Reply { return w.Accept(id, `{"name":"Ada"}`) },
		"User declined":  func(id string) *mcphubv1.Reply { return w.Decline(id, "") },
		"User cancelled": func(id string) *mcphubv1.Reply { return w.Dismiss(id) },
	} {
		c := d.call("everything", "trigger-elicitation-request", `{}`)
		takes(t, answer(w.WaitPrompt(form).GetPromptId()))
		if text := c.text(); !strings.Contains(text, want) {
			t.Errorf("want %s: %q", want, text)
		}
	}
	c := d.call("everything", "trigger-sampling-request", `{"prompt":"write a haiku"}`)
	takes(t,
		w.Accept(w.WaitPrompt(sampling).GetPromptId(),
			`{"role":"assistant","content":{"type":"text","text":"a haiku"},"model":"m"}`))
	if text := c.text(); !strings.Contains(text, "a haiku") {
		t.Errorf("result %q", text)
	}
	if n := len(between.all(refusals)); n != 0 {
		t.Errorf("%d refusals were sent", n)
	}

	c = d.call("everything", "trigger-sampling-request", `{"prompt":"write a novel"}`)
	p := w.WaitPrompt(sampling)
	cancels(t, w, c.id, "changed my mind")
	closedWith(t, p.GetPromptId(), []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_PARENT}, w)
	c.fails("CANCELLED", "CANCELLED")
	until(t, "the server has its answer", func() bool { return len(between.all(refusals)) > 0 })
	if last := between.one("the refusal", refusals); last.Error.Code != -1 {
		t.Errorf("the server was answered %s", last.Body)
	}
	d.echoes("everything", "still there")
	between.one("a cancel", sent("notifications/cancelled"))
}

// everythingHasResources: resources, their templates, reads, subscriptions, prompt templates and completion.
func everythingHasResources(t *testing.T, d *door, w *fakeeditor.Window) {
	t.Helper()
	list, err := d.Servers.ListResources(d.ctx, &mcphubv1.ListResourcesRequest{Server: "everything"})
	if err != nil || len(list.GetResources()) == 0 {
		t.Fatalf("resources %v, %v", list, err)
	}
	first := list.GetResources()[0]
	read, err := d.Servers.ReadResource(d.ctx, &mcphubv1.ReadResourceRequest{RequestId: "read", Server: "everything",
		Uri: first.GetUri()})
	if err != nil || !strings.Contains(read.GetResultJson(), first.GetUri()) {
		t.Errorf("%s: %v, %v", first.GetUri(), read, err)
	}
	if e := w.WaitTerminal("read").GetMcpRequestFinished(); e.GetMethod() != "resources/read" ||
		e.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
		t.Errorf("the read ended with %v", e)
	}
	templates, err := d.Servers.ListResourceTemplates(d.ctx, &mcphubv1.ListResourceTemplatesRequest{Server: "everything"})
	if err != nil || len(templates.GetResourceTemplates()) == 0 {
		t.Fatalf("templates %v, %v", templates, err)
	}
	uri := strings.NewReplacer("{resourceId}", "1", "{id}",
		"1").Replace(templates.GetResourceTemplates()[0].GetUriTemplate())
	if read, err = d.Servers.ReadResource(d.ctx, &mcphubv1.ReadResourceRequest{Server: "everything",
		Uri: uri}); err != nil || !strings.Contains(read.GetResultJson(), uri) {
		t.Errorf("%s: %v, %v", uri, read, err)
	}

	if _, err := d.Servers.SubscribeResource(d.ctx, &mcphubv1.SubscribeResourceRequest{Server: "everything",
		Uri: uri}); err != nil {
		t.Fatal(err)
	}
	if text := d.call("everything", "toggle-subscriber-updates", `{}`).text(); !strings.Contains(text, "Started") {
		t.Errorf("result %q", text)
	}
	w.WaitEvent("an update", func(e *mcphubv1.AttachResponse) bool {
		return e.GetResourceUpdated().GetServer() == "everything" && e.GetResourceUpdated().GetUri() == uri
	})
	if _, err := d.Servers.UnsubscribeResource(d.ctx, &mcphubv1.UnsubscribeResourceRequest{Server: "everything",
		Uri: uri}); err != nil {
		t.Error(err)
	}

	prompts, err := d.Servers.ListMcpPrompts(d.ctx, &mcphubv1.ListMcpPromptsRequest{Server: "everything"})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(prompts.GetPrompts(), func(p *mcphubv1.McpPrompt) bool {
		return p.GetName() == "completable-prompt"
	})
	if i < 0 || len(prompts.GetPrompts()[i].GetArguments()) != 2 {
		t.Fatalf("prompt templates %v", prompts)
	}
	filled, err := d.Servers.GetMcpPrompt(d.ctx, &mcphubv1.GetMcpPromptRequest{
		Server: "everything", Name: "completable-prompt", Arguments: map[string]string{"department": "Sales",
			"name": "David"},
	})
	if err != nil || !strings.Contains(filled.GetResultJson(), "David") {
		t.Errorf("%v, %v", filled, err)
	}
	completed, err := d.Servers.Complete(d.ctx, &mcphubv1.CompleteRequest{
		Server: "everything", Reference: &mcphubv1.CompleteRequest_McpPrompt{McpPrompt: "completable-prompt"},
		Argument: "department", Value: "S",
	})
	if err != nil || !strings.Contains(completed.GetResultJson(), "Sales") {
		t.Errorf("%v, %v", completed, err)
	}
}
