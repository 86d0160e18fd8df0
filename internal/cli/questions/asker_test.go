package questions

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// person types lines to an asker, each when the asker waits for one.
type person struct {
	*asker
	t      *testing.T
	typing *io.PipeWriter
	screen bytes.Buffer
	said   []string
}

func newPerson(t *testing.T) *person {
	read, write := io.Pipe()
	p := &person{t: t, typing: write}
	p.asker = &asker{Streams: console.Streams{In: read, Err: &p.screen}}
	t.Cleanup(func() {
		p.Close()
		write.Close()
	})
	return p
}

func (p *person) note(answers []*mcphubv1.PromptAnswer) {
	for _, a := range answers {
		p.said = append(p.said, content(a))
	}
}

// types types a line, for which the asker must wait.
func (p *person) types(line string) {
	p.t.Helper()
	p.note(p.line(line))
}

// line is types, and returns the answers.
func (p *person) line(line string) []*mcphubv1.PromptAnswer {
	p.t.Helper()
	if p.Lines() == nil {
		p.t.Fatalf("no line is wanted for %q; the screen shows %q", line, p.screen.String())
	}
	if _, err := io.WriteString(p.typing, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
	return p.typed(<-p.Lines())
}

func (p *person) leaves() {
	p.typing.Close()
	if p.Lines() != nil {
		p.note(p.typed(<-p.Lines()))
	}
}

func prompted(id string, in *mcphubv1.ConfigInput) *mcphubv1.Prompt {
	p := launchPrompt(&mcphubv1.ServerLaunch{Command: "c"})
	if in != nil {
		p = inputPrompt(in)
	}
	p.PromptId = id
	return p
}

// TestAskerAsksOneAfterTheOther: each line answers the question that is shown, and the default of a launch is no.
func TestAskerAsksOneAfterTheOther(t *testing.T) {
	p := newPerson(t)
	options := []*mcphubv1.ConfigInputOption{{Value: "eu"}, {Value: "us", Label: "America"}}
	for _, q := range []*mcphubv1.Prompt{
		prompted("yes", nil), prompted("empty", nil), prompted("other", nil),
		prompted("value", &mcphubv1.ConfigInput{InputId: "a"}), prompted("default",
			&mcphubv1.ConfigInput{InputId: "b", DefaultValue: "d"}),
		prompted("none", &mcphubv1.ConfigInput{InputId: "c"}), prompted("option",
			&mcphubv1.ConfigInput{InputId: "d", Options: options}),
		prompted("default option", &mcphubv1.ConfigInput{InputId: "e", Options: options, DefaultValue: "eu"}),
	} {
		p.note(p.ask(q))
	}
	for _, line := range []string{"y", "", "sure", " v ", "", "", "3", "us", "2", ""} {
		p.types(line)
	}
	want := []string{"yes yes", "empty no", "other no", "value  v ", "default d", "none no", "option us",
		"default option eu"}
	if diff := cmp.Diff(want, p.said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, sign := range []string{"Start server s? [y/N] ", "Value of b [d]: ", "Number for d: ", "1 to 2"} {
		if !strings.Contains(p.screen.String(), sign) {
			t.Errorf("the screen does not show %q:\n%s", sign, p.screen.String())
		}
	}
	if p.Lines() != nil {
		t.Error("a line is wanted though nothing is asked")
	}
}

// TestAskerDropsALineForAClosedQuestion: a yes to a prompt that has closed must not answer the next one.
func TestAskerDropsALineForAClosedQuestion(t *testing.T) {
	p := newPerson(t)
	p.note(p.ask(prompted("gone", nil)))
	p.note(p.closed("gone"))
	p.note(p.ask(prompted("next", nil)))
	p.note(p.ask(prompted("later", nil)))
	p.note(p.closed("later"))
	p.note(p.closed("never was"))
	p.types("y")
	if len(p.said) != 0 {
		t.Errorf("the line for a closed question answered %q", p.said)
	}
	p.types("y")
	if diff := cmp.Diff([]string{"next yes"}, p.said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.note(p.ask(prompted("more", nil)))
	p.types("n")
	if diff := cmp.Diff([]string{"next yes", "more no"}, p.said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAskerDeclinesWhenNobodyIsLeft: the end of the input declines all prompts that wait and all that come later.
func TestAskerDeclinesWhenNobodyIsLeft(t *testing.T) {
	p := newPerson(t)
	p.note(p.ask(prompted("a", nil)))
	p.note(p.ask(prompted("b", &mcphubv1.ConfigInput{InputId: "b", DefaultValue: "d"})))
	p.leaves()
	p.note(p.ask(prompted("c", nil)))
	if diff := cmp.Diff([]string{"a no", "b no", "c no"}, p.said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
