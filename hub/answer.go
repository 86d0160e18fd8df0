package hub

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// Answer is BeginAnswer for callers that can wait for the result.
func (w *Window) Answer(a event.PromptAnswer) error {
	told := make(chan error, 1)
	w.BeginAnswer(a, func(err error) { told <- err })
	return <-told
}

// BeginAnswer answers a prompt. The first answer takes the prompt. BeginAnswer does not block: content that must be
// compared with what a server asked for is compared on a goroutine of the hub. Content that fits takes the prompt, if
// the prompt is still open then. Meanwhile the hub carries out what else the window sends, even its detaching: an
// answer counts from the time it came.
//
// told is called once, perhaps before BeginAnswer returns, and must not block. Errors: NOT_FOUND (PROMPT_CLOSED for a
// late answer, PROMPT_NOT_FOUND for an id that never was), INVALID_ARGUMENT (INVALID_CONTENT, also for a scope that the
// window cannot give: the prompt stays open and can be answered again), RESOURCE_EXHAUSTED (QUEUE_FULL: too many
// answers are being compared).
func (w *Window) BeginAnswer(a event.PromptAnswer, told func(error)) {
	if err := checkAction(a); err != nil {
		told(err)
		return
	}
	p, compared, err := w.consider(a)
	switch {
	case err != nil:
		told(err)
	case compared != nil:
		w.compare(p, a, compared, told)
	default:
		if _, err = checkContent(&p.info, a, nil); err == nil {
			w.h.update(func(st *state) { err = st.take(w, p, a, "") })
		}
		told(err)
	}
}

// consider finds the prompt that a answers. compared is the account that holds the content while it is compared with
// what was asked, which may take a while; nil if it need not be compared.
func (w *Window) consider(a event.PromptAnswer) (p *prompt, compared *bounds.Account, err error) {
	h := w.h
	st := h.lock()
	defer st.unlock()
	if p, err = st.answerable(w, a); err != nil || a.Action != event.ActionAccept {
		return p, nil, err
	}
	if !comparesContent(p.info.Kind) {
		return p, nil, nil
	}
	if err := checkAnswerSize(&p.info, a); err != nil {
		return nil, nil, err
	}
	if !w.beginComparing() {
		return nil, nil, event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)},
			"%d answers of window %q are still being compared with what was asked; wait until they are done",
			bounds.WindowAnswers, bounds.Printable(w.id))
	}
	compared = h.budgets.answers.Account("")
	if compared.Take(len(a.Content)) != nil {
		return nil, nil, event.Fail(event.CodeResourceExhausted, event.ReasonQueueFull,
			[]string{"window_id", bounds.Printable(w.id)},
			"this answer has %s, and other long answers are still being compared with what was asked; wait until they are done",
			bounds.Bytes(len(a.Content)))
	}
	st.apply(core.Comparing{Prompt: p.number})
	h.work.Add(1) // the window is attached, so the hub is not closed
	return p, compared, nil
}

// compare compares the content of an answer with what was asked, on a goroutine, and takes the prompt if it fits.
func (w *Window) compare(p *prompt, a event.PromptAnswer, compared *bounds.Account, told func(error)) {
	h := w.h
	go func() {
		defer h.work.Done()
		defer compared.Close()
		unchecked, err := h.compareRecovered(p, a)
		h.update(func(st *state) {
			w.endComparing()
			if st.apply(core.Comparing{Prompt: p.number, Over: true, Fits: err == nil}); err == nil {
				err = st.take(w, p, a, unchecked)
			}
		})
		told(err)
	}()
}

// compareRecovered recovers from a panic of the comparison, which would end the process on a goroutine of the hub.
func (h *fixed) compareRecovered(p *prompt, a event.PromptAnswer) (unchecked string, err error) {
	defer func() {
		if v := recover(); v != nil {
			unchecked, err = "", h.panicked(v)
		}
	}()
	return checkContent(&p.info, a, func(value json.RawMessage) schema.Verdict {
		return h.compare(p.request.server, p.info.Question.Schema, value)
	})
}

// take closes the prompt with an answer that fits. unchecked is the reason why the content was not compared with its
// schema, "" if it was.
func (st *state) take(w *Window, p *prompt, a event.PromptAnswer, unchecked string) error {
	if !st.isAsked(p) { // another answer, or another end, has taken it
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
		defer st.mute(p.request.server, true, w.id) // after this prompt has got its own answer
	}
	if unchecked != "" {
		st.tellUnchecked(p, unchecked)
	}
	others := st.agreed(w, p, c) // before close: the goroutine that waits for the answer saves the grants to files
	st.close(p, c)
	if p.launch != nil && c.action == event.ActionAccept {
		st.launchAgreed() // after close: a question about what was agreed to elsewhere is closed as superseded
	}
	st.covered(w, others)
	return nil
}

// tellUnchecked logs that the content of an answer goes to the server without a check against its schema. The server is
// bound to check it anyway (client/elicitation, "Security Considerations"), and a form that cannot be checked must not
// keep a person from answering.
func (st *state) tellUnchecked(p *prompt, why string) {
	st.log.Info("the answer to a form was not compared with its schema", "server", p.info.Server, "prompt_id", p.id,
		"why", why)
	p.request.server.allowance.note("answerNotChecked", map[string]string{"promptId": p.id, "why": why})
}

// answerable returns the prompt that a answers, or the error for a prompt that w cannot answer.
func (st *state) answerable(w *Window, a event.PromptAnswer) (*prompt, error) {
	if !w.attached {
		return nil, event.Fail(event.CodeFailedPrecondition, event.ReasonWindowDetached, []string{"window_id", w.id},
			"window %q is detached; attach again to answer", bounds.Printable(w.id))
	}
	n := st.promptNumber(a.PromptID)
	p := st.prompts[n]
	switch {
	case n == 0 || n > st.core.Asked():
		return nil, errPromptNotFound(a.PromptID)
	case p == nil:
		return nil, errPromptClosed(a.PromptID)
	}
	if p.hidden || !w.kinds.Has(p.info.Kind, p.withTools) {
		return nil, errPromptKind(w.id, &p.info)
	}
	if err := checkShown(&p.info, a, w.actsFor); err != nil {
		return nil, err
	}
	return p, st.scopeRefused(w, p, a)
}
