package hub

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Answer is a click on a prompt. The first answer takes it. Errors: NOT_FOUND (PROMPT_CLOSED for a late answer, PROMPT_NOT_FOUND for an id that
// never was), INVALID_ARGUMENT (INVALID_CONTENT, also for a scope that the window cannot give: the prompt stays open and can be answered again).
func (w *Window) Answer(a PromptAnswer) error {
	h := w.h
	if a.Action < ActionAccept || a.Action > ActionDismiss {
		return fail(CodeInvalidArgument, ReasonInvalidRequest, []string{"prompt_id", boundReason(a.PromptID)}, "an answer accepts, declines or dismisses; this one does neither")
	}
	var p *prompt
	var err error
	h.update(func() { p, err = h.answerable(w, a) })
	if err != nil {
		return err
	}
	if a.Action == ActionAccept { // outside the lock: a schema may be large
		if err := checkContent(p, a); err != nil {
			return err
		}
	}
	defer h.lock().unlock()
	if p, err = h.answerable(w, a); err != nil { // it may have been taken meanwhile, or the window may have gone
		return err
	}
	c := closing{cause: CauseAnswered, origin: OriginUser, windowID: w.id, action: a.Action, scope: a.Scope, content: a.Content, byHost: a.KeptByHost}
	switch a.Action {
	case ActionDecline:
		c.cause, c.reason = CauseDeclined, boundReason(a.Reason)
	case ActionDismiss:
		c.cause = CauseDismissed
	}
	others := h.agreed(w, p, c) // first: whoever waits for the answer writes down what it brought
	h.closePrompt(p, c)
	h.covered(w, others)
	return nil
}

// answerable finds the prompt that a wants to answer. h.mu is held.
func (h *Hub) answerable(w *Window, a PromptAnswer) (*prompt, error) {
	if !w.attached {
		return nil, fail(CodeFailedPrecondition, ReasonWindowDetached, []string{"window_id", w.id}, "window %q is detached; attach again to answer", boundReason(w.id))
	}
	p := h.prompts[a.PromptID]
	if p == nil {
		before, digits, _ := strings.Cut(a.PromptID, "-"+h.mark+"-")
		if n, err := strconv.ParseUint(digits, 10, 64); err == nil && before == "prompt" && n > 0 && n <= h.asked {
			return nil, errPromptClosed(a.PromptID)
		}
		return nil, fail(CodeNotFound, ReasonPromptNotFound, []string{"prompt_id", boundReason(a.PromptID)}, "there is no prompt %q", boundReason(a.PromptID))
	}
	if !w.shows(p) {
		return nil, fail(CodeFailedPrecondition, ReasonPromptKind, []string{"prompt_id", a.PromptID}, "window %q has not declared that it shows %s prompts", boundReason(w.id), p.info.Kind)
	}
	return p, h.scopeRefused(w, p, a)
}

func errPromptClosed(id string) *Error {
	return fail(CodeNotFound, ReasonPromptClosed, []string{"prompt_id", id}, "prompt %q is closed already; the answer changed nothing", id)
}

// checkContent tells whether the content of a yes fits the question. What a client sends SHOULD be valid against the requested schema (client/elicitation, 2025-06-18 on).
func checkContent(p *prompt, a PromptAnswer) error {
	invalid := func(format string, args ...any) error {
		return fail(CodeInvalidArgument, ReasonInvalidContent, []string{"prompt_id", p.id}, "the answer to prompt %q does not fit: %s; the prompt is still open", p.id, fmt.Sprintf(format, args...))
	}
	if a.Edited != "" {
		return invalid("request_json is for a host that runs a model between the page and the hub; the hub takes the result, in content_json")
	}
	switch p.info.Kind {
	case PromptServerLaunch: // what runs is what the file says, and nothing that a window says
		if a.Content != "" {
			return invalid("the consent to a launch has no content")
		}
	case PromptConfigInput:
		if wrong := checkInput(p.info.Input, a.Content); wrong != "" {
			return invalid("%s", wrong)
		}
	case PromptSampling:
		var result struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Model   string          `json:"model"`
		}
		if err := json.Unmarshal([]byte(a.Content), &result); err != nil {
			return invalid("a sampling result is a JSON object with role, content and model")
		}
		if result.Role == "" || len(result.Content) == 0 || result.Model == "" {
			return invalid("a sampling result needs role, content and model")
		}
	case PromptElicitationForm:
		var content map[string]any
		if err := json.Unmarshal([]byte(a.Content), &content); err != nil || content == nil {
			return invalid("the content of a form is a JSON object")
		}
		var schema jsonschema.Schema
		if json.Unmarshal(p.info.Question.Schema, &schema) != nil {
			return nil // a schema that nobody can read must not keep the user from answering
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			return nil
		}
		if err := resolved.Validate(content); err != nil {
			return invalid("%v", err)
		}
	}
	return nil
}
