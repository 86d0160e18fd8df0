package fakeeditor

import (
	"fmt"
	"slices"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The state that a user sees. The Wait methods fail the test if the stream ends first. Messages are shared and must not
// be changed.

// WaitPrompt waits until a prompt of a kind is open and returns the oldest one.
func (w *Window) WaitPrompt(kind mcphubv1.PromptKind) *mcphubv1.Prompt {
	w.tb.Helper()
	var found *mcphubv1.Prompt
	w.must("a prompt of kind "+kind.String(), func() bool {
		for _, id := range w.model.order {
			if p := w.model.prompts[id]; p != nil && KindOf(p) == kind {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

// WaitShown waits until a prompt has opened here; it may have closed since. A second window uses it to wait for a
// prompt of the first one: if it waited for the kind, it might find an earlier prompt whose end has not arrived yet.
func (w *Window) WaitShown(promptID string) {
	w.tb.Helper()
	w.must("prompt "+promptID, func() bool {
		return w.model.prompts[promptID] != nil || w.model.closed[promptID] != nil
	})
}

// WaitClosed waits until a prompt has closed.
func (w *Window) WaitClosed(promptID string) *mcphubv1.PromptClosed {
	w.tb.Helper()
	var found *mcphubv1.PromptClosed
	w.must("the end of prompt "+promptID, func() bool { found = w.model.closed[promptID]; return found != nil })
	return found
}

// WaitRequest waits until a request is in a state, or has ended.
func (w *Window) WaitRequest(requestID string, state mcphubv1.RequestState) *mcphubv1.Request {
	w.tb.Helper()
	var found *mcphubv1.Request
	w.must("request "+requestID+" in "+state.String(), func() bool {
		found = w.model.requests[requestID]
		return found.GetState() == state || w.model.terminal[requestID] != nil
	})
	return found
}

// WaitTerminal waits until a request has ended. The event is mcp_request_cancelled or mcp_request_finished.
func (w *Window) WaitTerminal(requestID string) *mcphubv1.AttachResponse {
	w.tb.Helper()
	var found *mcphubv1.AttachResponse
	w.must("the end of request "+requestID, func() bool { found = w.model.terminal[requestID]; return found != nil })
	return found
}

// WaitProgress waits for progress of a request.
func (w *Window) WaitProgress(requestID string) *mcphubv1.Progress {
	w.tb.Helper()
	return w.WaitEvent("progress of "+requestID, func(e *mcphubv1.AttachResponse) bool {
		p := e.GetMcpRequestProgressed()
		return p.GetRequestId() == requestID && p.GetProgress() != nil
	}).GetMcpRequestProgressed().GetProgress()
}

// WaitEvent waits for the first event, past or future, for which match returns true.
func (w *Window) WaitEvent(what string, match func(*mcphubv1.AttachResponse) bool) *mcphubv1.AttachResponse {
	w.tb.Helper()
	var found *mcphubv1.AttachResponse
	seen := 0
	w.must(what, func() bool {
		for ; seen < len(w.events); seen++ {
			if match(w.events[seen]) {
				found = w.events[seen]
				return true
			}
		}
		return false
	})
	return found
}

func (w *Window) must(what string, holds func() bool) {
	w.tb.Helper()
	if !w.await(holds) {
		w.tb.Fatalf("%s waited for %s; the stream ended: %v\nlast seen:\n%s", w, what, w.Err(), w.lastSeen())
	}
}

// lastSeen returns the last events as text, for a test that waited in vain.
func (w *Window) lastSeen() string {
	const most = 12
	var b strings.Builder
	events := w.Events()
	for _, e := range events[max(0, len(events)-most):] {
		text := e.String()
		fmt.Fprintf(&b, "\t%.400s\n", text)
	}
	return b.String()
}

// Events returns every message so far, in order.
func (w *Window) Events() []*mcphubv1.AttachResponse {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// ID returns the id of the window.
func (w *Window) ID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.model.windowID
}

// HubID returns the id of the hub process.
func (w *Window) HubID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.model.hubID
}

// Server returns a server of the model, or nil if there is none.
func (w *Window) Server(name string) *mcphubv1.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.model.servers[name]
}

// Requests returns the open requests by id.
func (w *Window) Requests() map[string]*mcphubv1.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.model.clone().requests
}

// Changed returns a channel that is closed when the next message comes.
func (w *Window) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// Prompts returns the open prompts, oldest first.
func (w *Window) Prompts() []*mcphubv1.Prompt {
	w.mu.Lock()
	defer w.mu.Unlock()
	var open []*mcphubv1.Prompt
	for _, id := range w.model.order {
		if p := w.model.prompts[id]; p != nil {
			open = append(open, p)
		}
	}
	return open
}

// KindOf returns the kind of a prompt, which is named as its question.
func KindOf(p *mcphubv1.Prompt) mcphubv1.PromptKind {
	m := p.ProtoReflect()
	question := m.WhichOneof(m.Descriptor().Oneofs().ByName("question"))
	if question == nil {
		return mcphubv1.PromptKind_PROMPT_KIND_UNSPECIFIED
	}
	return mcphubv1.PromptKind(mcphubv1.PromptKind_value["PROMPT_KIND_"+strings.ToUpper(string(question.Name()))])
}
