package hub

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/inputs"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Answer is BeginAnswer for those who can wait for what comes of it.
func (w *Window) Answer(a event.PromptAnswer) error {
	told := make(chan error, 1)
	w.BeginAnswer(a, func(err error) { told <- err })
	return <-told
}

// BeginAnswer is a click on a prompt. The first answer takes it. It waits for nothing: content that has to be compared
// with what a server asked for is compared on a goroutine of the hub, and only what fits takes the prompt, if it is
// still open then. What the window sends meanwhile is carried out meanwhile, its end included: an answer counts from
// when it came.
//
// told is called once, perhaps before BeginAnswer returns, and must not block. Errors: NOT_FOUND (PROMPT_CLOSED for a
// late answer, PROMPT_NOT_FOUND for an id that never was), INVALID_ARGUMENT (INVALID_CONTENT, also for a scope that the
// window cannot give: the prompt stays open and can be answered again), RESOURCE_EXHAUSTED (QUEUE_FULL: too many
// answers are being compared).
func (w *Window) BeginAnswer(a event.PromptAnswer, told func(error)) {
	if a.Action < event.ActionAccept || a.Action > event.ActionDismiss {
		told(event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest,
			[]string{"prompt_id", bounds.Printable(a.PromptID)},
			"an answer accepts, declines or dismisses; this one does neither"))
		return
	}
	p, compared, err := w.consider(a)
	switch {
	case err != nil:
		told(err)
	case compared != nil:
		w.compare(p, a, compared, told)
	default:
		if err = checkContent(p, a); err == nil {
			err = w.take(p, a, "")
		}
		told(err)
	}
}

// consider finds the prompt. compared, if not nil, is where its content counts, which has to be compared with what was
// asked for; that may take a while, and the prompt waits for it.
func (w *Window) consider(a event.PromptAnswer) (p *prompt, compared *bounds.Account, err error) {
	h := w.h
	defer h.lock().unlock()
	if p, err = h.answerable(w, a); err != nil || a.Action != event.ActionAccept {
		return p, nil, err
	}
	if p.info.Kind != event.PromptElicitationForm && p.info.Kind != event.PromptSampling {
		return p, nil, nil
	}
	if len(a.Content) > bounds.AnswerBytes {
		return nil, nil, errContent(p, "its content has %s, and may have %s", bounds.Bytes(len(a.Content)),
			bounds.Bytes(bounds.AnswerBytes))
	}
	if w.work.comparing >= bounds.WindowAnswers {
		return nil, nil, event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)},
			"%d answers of window %q are still being compared with what was asked; wait until they are done",
			bounds.WindowAnswers, bounds.Printable(w.id))
	}
	compared = h.budgets.Answers.Account("")
	if compared.Take(len(a.Content)) != nil {
		return nil, nil, event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)},
			"this answer has %s, and other long answers are still being compared with what was asked; wait until they are done",
			bounds.Bytes(len(a.Content)))
	}
	w.work.comparing++
	p.checks++
	h.work.Add(1) // the window is attached, so the hub is not closed
	return p, compared, nil
}

// compare compares the content of an answer, and takes the prompt if it fits.
func (w *Window) compare(p *prompt, a event.PromptAnswer, compared *bounds.Account, told func(error)) {
	h := w.h
	go func() {
		defer h.work.Done()
		defer compared.Close()
		unchecked, err := h.compareRecovered(p, a)
		h.update(func() {
			w.work.comparing--
			if p.checks--; err != nil && p.checks == 0 {
				h.closeUnshowable()
			}
		})
		if err == nil {
			err = w.take(p, a, unchecked)
		}
		told(err)
	}()
}

// compareRecovered is compareContent on a goroutine of the hub, where a panic would end the process.
func (h *Hub) compareRecovered(p *prompt, a event.PromptAnswer) (unchecked string, err error) {
	defer func() {
		if v := recover(); v != nil {
			unchecked, err = "", h.panicked(v)
		}
	}()
	return h.compareContent(p, a)
}

// take takes the prompt with an answer that fits. unchecked says why the content was not compared with its schema.
func (w *Window) take(p *prompt, a event.PromptAnswer, unchecked string) error {
	h := w.h
	defer h.lock().unlock()
	if h.prompts[p.id] != p { // taken meanwhile
		return errPromptClosed(p.id)
	}
	c := closing{cause: event.CauseAnswered, origin: event.OriginUser, windowID: w.id, action: a.Action, scope: a.Scope,
		content: a.Content, byHost: a.KeptByHost}
	switch a.Action {
	case event.ActionDecline:
		c.cause, c.reason = event.CauseDeclined, bounds.Reason(a.Reason)
	case event.ActionDismiss:
		c.cause = event.CauseDismissed
	}
	if a.MuteServer && p.asker != nil && a.Action != event.ActionAccept {
		defer h.mute(p.request.server, true, w.id) // after this one has got its own answer
	}
	if unchecked != "" {
		h.tellUnchecked(p, unchecked)
	}
	others := h.agreed(w, p, c) // first: whoever waits for the answer writes down what it brought
	h.closePrompt(p, c)
	h.covered(w, others)
	return nil
}

// tellUnchecked says that the content of an answer goes to the server as it is. The server is bound to check it anyway
// (client/elicitation, "Security Considerations"), and a form that cannot be checked must not keep a person from
// answering. h.mu is held.
func (h *Hub) tellUnchecked(p *prompt, why string) {
	h.log.Info("the answer to a form was not compared with its schema", "server", p.info.Server, "prompt_id", p.id,
		"why", why)
	p.request.server.allowance.Note("answerNotChecked", map[string]string{"promptId": p.id, "why": why})
}

// answerable finds the prompt that a wants to answer. h.mu is held.
func (h *Hub) answerable(w *Window, a event.PromptAnswer) (*prompt, error) {
	if !w.attached {
		return nil, event.Fail(event.CodeFailedPrecondition, event.ReasonWindowDetached, []string{"window_id", w.id},
			"window %q is detached; attach again to answer", bounds.Printable(w.id))
	}
	p := h.prompts[a.PromptID]
	if p == nil {
		before, digits, _ := strings.Cut(a.PromptID, "-"+h.mark+"-")
		if n, err := strconv.ParseUint(digits, 10, 64); err == nil && before == "prompt" && n > 0 && n <= h.asked {
			return nil, errPromptClosed(a.PromptID)
		}
		return nil, event.Fail(event.CodeNotFound, event.ReasonPromptNotFound,
			[]string{"prompt_id", bounds.Printable(a.PromptID)},
			"there is no prompt %q", bounds.Printable(a.PromptID))
	}
	if !w.shows(p) {
		return nil, event.Fail(event.CodeFailedPrecondition, event.ReasonPromptKind, []string{"prompt_id", a.PromptID},
			"window %q has not declared that it shows %s prompts", bounds.Printable(w.id), p.info.Kind)
	}
	return p, h.scopeRefused(w, p, a)
}

func errPromptClosed(id string) *event.Error {
	return event.Fail(event.CodeNotFound, event.ReasonPromptClosed, []string{"prompt_id", id},
		"prompt %q is closed already; the answer changed nothing", id)
}

// errContent says that an answer does not fit. The prompt is still open.
func errContent(p *prompt, format string, args ...any) *event.Error {
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidContent, []string{"prompt_id", p.id},
		"the answer to prompt %q does not fit: %s; the prompt is still open", p.id, fmt.Sprintf(format, args...))
}

// checkContent tells whether the content of a yes to a question of the hub fits. Nothing that it looks at is long.
func checkContent(p *prompt, a event.PromptAnswer) error {
	if a.Action != event.ActionAccept {
		return nil
	}
	if a.Edited != "" {
		return errEdited(p)
	}
	switch p.info.Kind {
	case event.PromptServerLaunch: // what runs is what the file says, and nothing that a window says
		if a.Content != "" {
			return errContent(p, "the consent to a launch has no content")
		}
	case event.PromptConfigInput:
		if wrong := inputs.Wrong(p.info.Input, a.Content); wrong != "" {
			return errContent(p, "%s", wrong)
		}
	}
	return nil
}

func errEdited(p *prompt) error {
	return errContent(p,
		"request_json is for a host that runs a model between the page and the hub; the hub takes the result, in content_json")
}

// compareContent compares the content of a yes with what a server asked for. What a client sends SHOULD be valid
// against the requested schema (client/elicitation, 2025-06-18 on). unchecked says why it was not compared, "" = it
// was.
func (h *Hub) compareContent(p *prompt, a event.PromptAnswer) (unchecked string, err error) {
	if a.Edited != "" {
		return "", errEdited(p)
	}
	if p.info.Kind == event.PromptSampling {
		var result struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Model   string          `json:"model"`
		}
		if err := json.Unmarshal([]byte(a.Content), &result); err != nil {
			return "", errContent(p, "a sampling result is a JSON object with role, content and model")
		}
		if result.Role == "" || len(result.Content) == 0 || result.Model == "" {
			return "", errContent(p, "a sampling result needs role, content and model")
		}
		return "", nil
	}
	if !isObject(a.Content) {
		return "", errContent(p, "the content of a form is a JSON object")
	}
	// The page shows one of the two, the schema may be checked against the other, and the server reads either.
	if name, twice := jsontext.Repeated([]byte(a.Content)); twice {
		return "", errContent(p, "its content has the member %q twice", bounds.Cut(name, bounds.NameBytes))
	}
	verdict := h.compare(p.request.server, p.info.Question.Schema, json.RawMessage(a.Content))
	if verdict.Violation != "" {
		return "", errContent(p, "%s", verdict.Violation)
	}
	return verdict.NotChecked, nil
}
