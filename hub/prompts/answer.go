package prompts

import (
	"encoding/json"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/inputs"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// Compared tells whether the content of a yes to a question is compared with what a server asked for, which may take a
// while.
func Compared(kind event.PromptKind) bool {
	return kind == event.PromptElicitationForm || kind == event.PromptSampling
}

// CheckAction refuses an answer that is none.
func CheckAction(a event.PromptAnswer) error {
	if a.Action >= event.ActionAccept && a.Action <= event.ActionDismiss {
		return nil
	}
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest,
		[]string{"prompt_id", bounds.Printable(a.PromptID)},
		"an answer accepts, declines or dismisses; this one does neither")
}

// CheckShown refuses a yes to the launch of what a program had the hub write, unless it says that the whole of it was
// in view, and comes from another one than that program. Whoever wrote the entry does not also agree to it.
func CheckShown(p *event.PromptInfo, a event.PromptAnswer, actsFor string) error {
	if a.Action != event.ActionAccept || p.Kind != event.PromptServerLaunch || p.Launch.WrittenBy == "" {
		return nil
	}
	meta := []string{"prompt_id", p.ID, "server", p.Server}
	if actsFor != "" && bounds.Printable(actsFor) == p.Launch.WrittenBy { // as the name was noted
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

// CheckContent tells whether the content of an answer fits its question. form compares a value with the schema of a
// form. What a client sends SHOULD be valid against the requested schema (client/elicitation, 2025-06-18 on). unchecked
// says why it was not compared, "" = it was.
func CheckContent(p *event.PromptInfo, a event.PromptAnswer,
	form func(value json.RawMessage) schema.Verdict) (unchecked string, err error) {
	if a.Action != event.ActionAccept {
		return "", nil
	}
	wrong := ""
	switch {
	case a.Edited != "":
		wrong = "request_json is for a host that runs a model between the page and the hub; the hub takes the result, " +
			"in content_json"
	case p.Kind == event.PromptServerLaunch && a.Content != "": // what runs is what the file says, and no window
		wrong = "the consent to a launch has no content"
	case p.Kind == event.PromptConfigInput:
		wrong = inputs.Wrong(p.Input, a.Content)
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

// wrongSample reads what the server will read: names are exact.
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

// repeated refuses two members of one name: the page shows one of them, the schema may be checked against the other,
// and the server reads either.
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

// CheckSize refuses a content that is too long to be looked at.
func CheckSize(p *event.PromptInfo, a event.PromptAnswer) error {
	if len(a.Content) <= bounds.AnswerBytes {
		return nil
	}
	return errContent(p.ID, fmt.Sprintf("its content has %s, and may have %s", bounds.Bytes(len(a.Content)),
		bounds.Bytes(bounds.AnswerBytes)))
}

// errContent says that an answer does not fit. The prompt is still open.
func errContent(id, wrong string) *event.Error {
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidContent, []string{"prompt_id", id},
		"the answer to prompt %q does not fit: %s; the prompt is still open", id, wrong)
}
