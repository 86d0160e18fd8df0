package fakeeditor

import mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"

// The actions of a user. Each one waits for the hub's reply.

// Accept accepts a prompt: content is the JSON text of a form or a completion, "" for the other kinds.
func (w *Window) Accept(promptID, content string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.accept(promptID, &mcphubv1.AcceptPrompt{Scope: mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE,
		ContentJson: content})
}

// AcceptFor accepts a tool approval for a scope.
func (w *Window) AcceptFor(promptID string, scope mcphubv1.ApprovalScope) *mcphubv1.Reply {
	w.tb.Helper()
	return w.accept(promptID, &mcphubv1.AcceptPrompt{Scope: scope})
}

func (w *Window) accept(promptID string, a *mcphubv1.AcceptPrompt) *mcphubv1.Reply {
	w.tb.Helper()
	return w.answer(&mcphubv1.PromptAnswer{PromptId: promptID, Action: &mcphubv1.PromptAnswer_Accept{Accept: a}})
}

// Decline declines a prompt.
func (w *Window) Decline(promptID, reason string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.answer(&mcphubv1.PromptAnswer{PromptId: promptID,
		Action: &mcphubv1.PromptAnswer_Decline{Decline: &mcphubv1.DeclinePrompt{Reason: reason}}})
}

// Dismiss closes a prompt without a choice.
func (w *Window) Dismiss(promptID string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.answer(&mcphubv1.PromptAnswer{PromptId: promptID,
		Action: &mcphubv1.PromptAnswer_Dismiss{Dismiss: &mcphubv1.DismissPrompt{}}})
}

func (w *Window) answer(a *mcphubv1.PromptAnswer) *mcphubv1.Reply {
	w.tb.Helper()
	return w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
}

// CancelRequest cancels a request, like the Cancel button.
func (w *Window) CancelRequest(id, reason string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: id, Reason: reason},
	}})
}

// SetRoots changes the workspace folders.
func (w *Window) SetRoots(roots ...*mcphubv1.Root) *mcphubv1.Reply {
	w.tb.Helper()
	return w.Ask(
		&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_SetRoots{SetRoots: &mcphubv1.SetRoots{Roots: roots}}})
}

// SetCapabilities changes the prompts that the window can show.
func (w *Window) SetCapabilities(samplingTools bool, kinds ...mcphubv1.PromptKind) *mcphubv1.Reply {
	w.tb.Helper()
	w.mu.Lock()
	w.model.allKinds = w.model.allKinds && len(kinds) == len(AllKinds)
	w.mu.Unlock()
	return w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_SetCapabilities{
		SetCapabilities: &mcphubv1.SetCapabilities{PromptKinds: kinds, SamplingTools: samplingTools},
	}})
}
