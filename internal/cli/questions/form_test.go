package questions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func formOf(id, schema string) *mcphubv1.Prompt {
	return &mcphubv1.Prompt{PromptId: id, Server: "s", Question: &mcphubv1.Prompt_ElicitationForm{
		ElicitationForm: &mcphubv1.ElicitationForm{Message: "who?", SchemaJson: schema}}}
}

const personSchema = `{"type": "object", "required": ["name", "age"], "properties": {"name": {"type": "string"},
	"age": {"type": "integer"}, "team": {"type": "string", "enum": ["red", "blue"]}, "note": {"type": "string"},
	"size": {"type": "string", "default": "m"}}}`

// told returns what an answer says, with the content of a form.
func told(a *mcphubv1.PromptAnswer) string {
	switch {
	case a.GetAccept() != nil:
		return a.GetPromptId() + " accept " + a.GetAccept().GetContentJson()
	case a.GetDecline() != nil:
		return a.GetPromptId() + " decline"
	}
	return a.GetPromptId() + " dismiss"
}

// TestAskerFillsInForms: where a person is at the terminal, they answer a form and a page as they answer an approval.
// Nothing is sent before a yes to all of it; a no declines, and Enter dismisses, at the beginning as at the end.
func TestAskerFillsInForms(t *testing.T) {
	page := &mcphubv1.Prompt{PromptId: "u", Question: &mcphubv1.Prompt_ElicitationUrl{
		ElicitationUrl: &mcphubv1.ElicitationUrl{Url: "https://example.com"}}}
	form := formOf("f", personSchema)
	for _, test := range []struct {
		name   string
		asked  *mcphubv1.Prompt
		types  []string
		want   string
		screen []string
	}{
		{"all of it", form, []string{"y", "36", "Ada", "", "s", "2", "y"},
			`f accept {"age":36,"name":"Ada","size":"s","team":"blue"}`,
			[]string{"Answer it? [y/n, Enter dismisses] ", "name (string): ", "team (one of ", "Enter leaves it out",
				`Send {"age":36,"name":"Ada","size":"s","team":"blue"}? [y/n, Enter dismisses] `}},
		{"the default", form, []string{"y", "36", "Ada", "", "", "", "y"}, `f accept {"age":36,"name":"Ada","size":"m"}`,
			[]string{`Enter: "m"`}},
		{"what does not fit", form, []string{"y", "old", "36", "Ada", "", "", "green", "1", "y"},
			`f accept {"age":36,"name":"Ada","size":"m","team":"red"}`, []string{"the form wants integer"}},
		{"no at once", form, []string{"n"}, "f decline", nil},
		{"Enter at once", form, []string{""}, "f dismiss", nil},
		{"neither", form, []string{"maybe", "no"}, "f decline", []string{`not "maybe"`}},
		{"no at the end", form, []string{"y", "36", "Ada", "", "", "", "n"}, "f decline", nil},
		{"Enter at the end", form, []string{"y", "36", "Ada", "", "", "", ""}, "f dismiss", nil},
		{"no fields", formOf("e", `{"type":"object","properties":{}}`), []string{"y", "y"}, "e accept {}", nil},
		{"a page", page, []string{"y"}, "u accept ", []string{"Visit it? [y/n, Enter dismisses] "}},
		{"no page", page, []string{"n"}, "u decline", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPerson(t)
			answers := p.ask(test.asked)
			for _, line := range test.types {
				if len(answers) > 0 {
					t.Fatalf("answered before %q", line)
				}
				answers = p.line(line)
			}
			if len(answers) != 1 || told(answers[0]) != test.want {
				t.Errorf("answers %v, want %s", answers, test.want)
			}
			for _, want := range test.screen {
				if !strings.Contains(p.screen.String(), want) {
					t.Errorf("the screen does not show %q:\n%s", want, p.screen.String())
				}
			}
		})
	}
}

// TestAskerLeavesAForm: the end of the input dismisses a form that is being filled in, and a form that closes takes
// what was typed for it along.
func TestAskerLeavesAForm(t *testing.T) {
	p := newPerson(t)
	p.ask(formOf("gone", personSchema))
	p.line("y")
	p.closed("gone")
	p.ask(formOf("next", personSchema))
	p.line("Ada") // answers nothing
	var said []string
	for _, line := range []string{"y", "36"} {
		for _, a := range p.line(line) {
			said = append(said, told(a))
		}
	}
	p.typing.Close()
	for _, a := range p.typed(<-p.Lines()) {
		said = append(said, told(a))
	}
	if diff := cmp.Diff([]string{"next dismiss"}, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFormIsAskedForOnATerminal: without --elicit a person at the terminal is asked; where nobody is, it is dismissed.
func TestFormIsAskedForOnATerminal(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		answer, _, ask := (&Answers{}).AnswerTo(formOf("f", personSchema), terminal)
		if ask != terminal || (answer.GetDismiss() == nil) != terminal {
			t.Errorf("terminal %v: answer %v, ask %v", terminal, answer, ask)
		}
	}
}

// TestFormIsAskedForAgain: the answer that the hub finds not to fit is asked for again.
func TestFormIsAskedForAgain(t *testing.T) {
	p := newPerson(t)
	form := formOf("f", `{"type":"object","properties":{}}`)
	p.ask(form)
	p.line("y")
	p.line("y")
	other := &mcphubv1.Reply{MessageId: "answer f", Error: &mcphubv1.HubError{Reason: "PROMPT_CLOSED"}}
	unfit := &mcphubv1.Reply{MessageId: "answer f", Error: &mcphubv1.HubError{Reason: "INVALID_CONTENT"}}
	if p.refused(other) != nil || p.refused(unfit) != form || p.refused(unfit) != nil {
		t.Error("a form is asked for again once, if its answer does not fit")
	}
}
