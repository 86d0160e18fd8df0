package hub

import (
	"encoding/json"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// comparesContent reports whether the content of an accepting answer is compared with what a server asked for, which
// may take a while.
func comparesContent(kind event.PromptKind) bool {
	return kind == event.PromptElicitationForm || kind == event.PromptSampling
}

// checkAction returns an error if a has none of the three actions.
func checkAction(a event.PromptAnswer) error {
	if a.Action >= event.ActionAccept && a.Action <= event.ActionDismiss {
		return nil
	}
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest,
		[]string{"prompt_id", bounds.Printable(a.PromptID)},
		"an answer accepts, declines or dismisses; this one does neither")
}

// checkShown checks a yes to the launch of an entry that a program had the hub write. It returns an error unless the
// answer says that the whole launch was in view, and comes from another program or a person: whoever had the entry
// written must not also agree to it.
func checkShown(p *event.PromptInfo, a event.PromptAnswer, actsFor string) error {
	if a.Action != event.ActionAccept || p.Kind != event.PromptServerLaunch || p.Launch.WrittenBy == "" {
		return nil
	}
	meta := []string{"prompt_id", p.ID, "server", p.Server}
	if actsFor != "" && bounds.Printable(actsFor) == p.Launch.WrittenBy { // WrittenBy was made printable, too
		return event.Fail(event.CodePermissionDenied, event.ReasonConsentNotShown, meta,
			"the start of server %q cannot be agreed to by %s, which had its entry written; a person has to", p.Server,
			bounds.Printable(actsFor))
	}
	if a.LaunchHash != p.Launch.Hash {
		return event.Fail(event.CodeInvalidArgument, event.ReasonConsentNotShown, meta,
			"a program wrote the entry of server %q, so a yes to its start must carry the launch_hash of what was shown; "+
				"the question is still open", p.Server)
	}
	return nil
}

// checkContent returns an error if the content of an answer does not fit its question. form compares a value with the
// schema of a form. What a client sends SHOULD be valid against the requested schema (client/elicitation, 2025-06-18
// on). unchecked is the reason why the content was not compared, "" if it was.
func checkContent(p *event.PromptInfo, a event.PromptAnswer,
	form func(value json.RawMessage) schema.Verdict) (unchecked string, err error) {
	if a.Action != event.ActionAccept {
		return "", nil
	}
	wrong := ""
	switch {
	case a.Edited != "":
		wrong = "request_json is for a host that runs a model between the page and the hub; the hub takes the result, " +
			"in content_json"
	case p.Kind == event.PromptServerLaunch && a.Content != "": // the config file decides what runs, not a window
		wrong = "the consent to a launch has no content"
	case p.Kind == event.PromptConfigInput:
		wrong = wrongInput(p.Input, a.Content)
	case p.Kind == event.PromptSampling:
		wrong = wrongSample(a.Content)
	case p.Kind == event.PromptElicitationForm:
		wrong, unchecked = wrongForm(a.Content, form)
	}
	if wrong != "" {
		return "", errContent(p.ID, wrong)
	}
	return unchecked, nil
}

// wrongSample checks the members that the server will read. Their names must match exactly.
func wrongSample(content string) string {
	text := []byte(content)
	switch result := jsontext.Get(text, "content"); {
	case !jsontext.IsObject(text):
		return "a sampling result is a JSON object with role, content and model"
	case jsontext.String(jsontext.Get(text, "role")) == "" || jsontext.String(jsontext.Get(text, "model")) == "" ||
		result == nil || jsontext.IsNull(result):
		return "a sampling result needs role, content and model"
	}
	return repeated(text)
}

// repeated returns an error text if two members have the same name. The page may show one of them, the schema check may
// use the other, and the server may read either.
func repeated(content []byte) string {
	if name, twice := jsontext.Repeated(content); twice {
		return fmt.Sprintf("its content has the member %q twice", bounds.Cut(name, bounds.NameBytes))
	}
	return ""
}

func wrongForm(content string, form func(value json.RawMessage) schema.Verdict) (wrong, unchecked string) {
	if !jsontext.IsObject([]byte(content)) {
		return "the content of a form is a JSON object", ""
	}
	if wrong = repeated([]byte(content)); wrong != "" {
		return wrong, ""
	}
	verdict := form(json.RawMessage(content))
	return verdict.Violation, verdict.NotChecked
}

// checkAnswerSize returns an error if the content is too long to be checked.
func checkAnswerSize(p *event.PromptInfo, a event.PromptAnswer) error {
	if len(a.Content) <= bounds.AnswerBytes {
		return nil
	}
	return errContent(p.ID, fmt.Sprintf("its content has %s, and may have %s", bounds.Bytes(len(a.Content)),
		bounds.Bytes(bounds.AnswerBytes)))
}

// errContent returns the error of an answer that does not fit. The prompt is still open.
func errContent(id, wrong string) *event.Error {
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidContent, []string{"prompt_id", id},
		"the answer to prompt %q does not fit: %s; the prompt is still open", id, wrong)
}
