package questions

import (
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/toolargs"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// form is the form of a server that a person fills in line by line: whether it is answered at all, each field, and
// whether the answer is sent.
type form struct {
	prompt  *mcphubv1.Prompt
	schema  toolargs.Argument
	begun   bool // the person has said that it is answered
	at      int  // the field that is asked for
	pairs   []string
	content string // what is to be sent, once all fields have been asked for
}

// formOf returns the form of p, which is the first question.
func (a *asker) formOf(p *mcphubv1.Prompt) *form {
	if a.form == nil || a.form.prompt != p {
		a.form = &form{prompt: p, schema: toolargs.ReadSchema(p.GetElicitationForm().GetSchemaJson())}
	}
	return a.form
}

// sign returns the text in front of the next typed line.
func (f *form) sign() string {
	switch {
	case !f.begun:
		return "Answer it? [y/n, Enter dismisses]"
	case f.content != "":
		return "Send " + console.Escape(f.content) + "? [y/n, Enter dismisses]"
	}
	field := &f.schema.Properties[f.at]
	text := console.ShortName(field.Name) + " (" + console.Cut(field.Wants(), 200)
	switch {
	case field.Def != "":
		text += ", Enter: " + console.Cut(field.Def, 60)
	case !field.Required:
		text += ", Enter leaves it out"
	}
	return console.Escape(text) + "):"
}

// typed reads a line. It returns the answer once there is one, or in wrong why the line is asked for again.
func (f *form) typed(line console.Typed) (answer *mcphubv1.PromptAnswer, wrong string) {
	if line.Over || !f.begun || f.content != "" {
		answer, wrong = yesOrNo(f.prompt, line)
		switch {
		case answer != nil || wrong != "":
			return answer, wrong
		case f.content != "":
			return door.Accept(f.prompt, f.content), ""
		}
		f.begun = true
		return nil, f.fit()
	}
	field := &f.schema.Properties[f.at]
	text := field.Choice(line.Text)
	switch {
	case text == "" && field.Def != "":
		f.pairs = append(f.pairs, field.Name+"="+field.Example())
	case text == "" && !field.Required:
	default:
		if _, ok := field.Read(text); !ok {
			return nil, console.Escape("the form wants " + field.Wants() + event.Hint(text, field.Choices()))
		}
		f.pairs = append(f.pairs, field.Name+"="+text)
	}
	f.at++
	return nil, f.fit()
}

// fit makes the content once all fields have been asked for. If that cannot be, it returns why, and the form begins
// anew.
func (f *form) fit() (wrong string) {
	if f.at < len(f.schema.Properties) {
		return ""
	}
	content, err := toolargs.WithPairs("{}", f.pairs, &f.schema)
	if err != nil {
		f.begun, f.at, f.pairs = false, 0, nil
		return console.Escape(err.Error())
	}
	f.content = content
	return ""
}

// yesOrNo returns the answer of a line that is not yes: a no declines, and an empty line or the end of the input
// dismisses the question. For a yes it returns nothing.
func yesOrNo(p *mcphubv1.Prompt, line console.Typed) (answer *mcphubv1.PromptAnswer, wrong string) {
	switch text := strings.ToLower(strings.TrimSpace(line.Text)); {
	case line.Over, text == "":
		return door.Dismiss(p.GetPromptId()), ""
	case text == "n" || text == "no":
		return host.Decline(p, "declined on the terminal"), ""
	case !console.IsYes(text):
		return nil, "it is y, n or Enter, and not " + strconv.Quote(text)
	}
	return nil, ""
}

// refused returns the form whose answer the hub has found not to fit, to be asked again; nil for any other reply.
func (a *asker) refused(r *mcphubv1.Reply) *mcphubv1.Prompt {
	p := a.sent
	if p == nil || a.over || r.GetMessageId() != "answer "+p.GetPromptId() ||
		r.GetError().GetReason() != "INVALID_CONTENT" {
		return nil
	}
	a.sent = nil
	return p
}
