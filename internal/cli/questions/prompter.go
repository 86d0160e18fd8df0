package questions

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Prompter answers the questions that a window gets: as the flags say, or by asking a person. It belongs to the
// goroutine that reads the window.
type Prompter struct {
	asker
	window *door.Window
	answer func(*mcphubv1.Prompt) (answer *mcphubv1.PromptAnswer, note string, ask bool)
	Brief  bool // only questions that a person has to see are described
}

// New returns a prompter for a window. answer returns the answer of the flags, as [Answers.AnswerTo] does.
func New(s console.Streams, w *door.Window,
	answer func(*mcphubv1.Prompt) (*mcphubv1.PromptAnswer, string, bool)) *Prompter {
	return &Prompter{asker: asker{Streams: s}, window: w, answer: answer}
}

// Handle does what an event demands. shown says that the event was shown to the person.
func (p *Prompter) Handle(event *mcphubv1.AttachResponse, shown bool) {
	switch e := event.GetEvent().(type) {
	case *mcphubv1.AttachResponse_Snapshot:
		// A server that starts with the config may ask before this window is attached.
		for _, q := range e.Snapshot.GetPrompts() {
			p.opened(q, false)
		}
	case *mcphubv1.AttachResponse_PromptOpened:
		p.opened(e.PromptOpened.GetPrompt(), shown)
	case *mcphubv1.AttachResponse_PromptClosed:
		p.window.Answer(p.closed(e.PromptClosed.GetPromptId())...)
	case *mcphubv1.AttachResponse_Reply:
		if q := p.refused(e.Reply); q != nil {
			p.Tell("  the answer does not fit: %s", console.Escape(e.Reply.GetError().GetMessage()))
			p.window.Answer(p.ask(q)...)
			return
		}
		if why := p.window.DismissUnfit(e.Reply); why != "" {
			p.Tell("  %s", why)
		}
	}
}

// opened answers a question, or asks the person.
func (p *Prompter) opened(q *mcphubv1.Prompt, shown bool) {
	answer, note, ask := p.answer(q)
	if !shown && (!p.Brief || ask || q.GetSignIn() != nil) {
		for _, line := range Lines(q) {
			p.Tell("  %s", line)
		}
	}
	if note != "" {
		p.Tell("  %s", note)
	}
	switch {
	case answer != nil:
		p.window.Answer(answer)
	case ask:
		p.window.Answer(p.ask(q)...)
	}
}

// Typed answers with a line that a person has typed.
func (p *Prompter) Typed(line console.Typed) { p.window.Answer(p.asker.typed(line)...) }

// asker asks a person on the terminal, one question at a time, in the order in which the questions came. It belongs to
// the goroutine that reads the window.
type asker struct {
	console.Streams
	queue  []*mcphubv1.Prompt // the first one is being asked
	typist *console.Typist    // nil until something was asked
	// awaited says that a line was requested and has not come. stale says that its question has closed, so the line
	// answers nothing: a yes that was meant for one question must not allow another.
	awaited, stale bool
	over           bool // the input has ended

	form *form            // what was typed so far for the form that is being asked, nil if none is
	sent *mcphubv1.Prompt // the form that was answered last: the hub may find that the answer does not fit
}

// ask queues a question, and asks it if no other is being asked.
func (a *asker) ask(p *mcphubv1.Prompt) (answers []*mcphubv1.PromptAnswer) {
	a.queue = append(a.queue, p)
	if len(a.queue) > 1 {
		return nil
	}
	return a.next()
}

// closed removes a question that has closed.
func (a *asker) closed(promptID string) (answers []*mcphubv1.PromptAnswer) {
	i := slices.IndexFunc(a.queue, func(p *mcphubv1.Prompt) bool { return p.GetPromptId() == promptID })
	if i < 0 {
		return nil
	}
	a.queue = slices.Delete(a.queue, i, i+1)
	if a.form != nil && a.form.prompt.GetPromptId() == promptID {
		a.form = nil
	}
	if i > 0 || !a.awaited {
		return nil
	}
	if !a.stale {
		a.stale = true
		a.Answered()
		a.Say("")
	}
	return a.next()
}

// Lines returns the channel of the typed lines, nil if no line is requested.
func (a *asker) Lines() <-chan console.Typed {
	if !a.awaited {
		return nil
	}
	return a.typist.Lines
}

// typed handles a typed line. The line answers the question that was asked, and the next one is asked.
func (a *asker) typed(line console.Typed) (answers []*mcphubv1.PromptAnswer) {
	a.awaited = false
	a.Answered()
	a.over = a.over || line.Over
	if stale := a.stale; stale || len(a.queue) == 0 {
		a.stale = false
		return a.next()
	}
	p := a.queue[0]
	if isSecret(p) {
		a.Say("") // a secret line is typed without its line end being shown
	}
	answer, wrong := a.answerTyped(p, line)
	if answer == nil && wrong == "" {
		return a.next() // a form goes on
	}
	if wrong != "" {
		a.Say("  %s", wrong)
		return a.next()
	}
	a.queue = a.queue[1:]
	return append([]*mcphubv1.PromptAnswer{answer}, a.next()...)
}

// next asks the first question of the queue. If the input has ended, it declines all of them.
func (a *asker) next() (answers []*mcphubv1.PromptAnswer) {
	if a.over {
		for _, p := range a.queue {
			answer, _ := a.answerTyped(p, console.Typed{Over: true})
			answers = append(answers, answer)
		}
		a.queue = nil
		return answers
	}
	if len(a.queue) == 0 {
		return nil
	}
	if a.awaited {
		a.Say("  press Enter to come to this question; what you type now answers nothing")
		return nil
	}
	if a.typist == nil {
		a.typist = console.NewTypist(a.In)
	}
	a.Question(a.signFor(a.queue[0]) + " ")
	a.awaited = true
	a.typist.Want(isSecret(a.queue[0]))
	return nil
}

// Close stops the typist, even if questions are open.
func (a *asker) Close() {
	if a.typist != nil {
		a.Answered()
		a.typist.Close()
	}
}

func isSecret(p *mcphubv1.Prompt) bool { return p.GetConfigInput().GetSecret() }

// signFor returns the text in front of the typed answer.
func (a *asker) signFor(p *mcphubv1.Prompt) string {
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ServerLaunch:
		return "Start server " + console.Escape(p.GetServer()) + "? [y/N]"
	case *mcphubv1.Prompt_ElicitationForm:
		return a.formOf(p).sign()
	case *mcphubv1.Prompt_ElicitationUrl:
		return "Visit it? [y/n, Enter dismisses]"
	case *mcphubv1.Prompt_ConfigInput:
		text := "Value of " + console.Escape(q.ConfigInput.GetInputId())
		if len(q.ConfigInput.GetOptions()) > 0 {
			text = "Number for " + console.Escape(q.ConfigInput.GetInputId())
		}
		if v := q.ConfigInput.GetDefaultValue(); v != "" && !isSecret(p) {
			text += " [" + exact(v) + "]"
		}
		if isSecret(p) {
			text += " (not shown)"
		}
		return text + ":"
	}
	return "Allow this call? [y/N]"
}

// answerTyped returns the answer that a line gives, or in wrong why it gives none; without both, the question goes on.
// The end of the input is a no.
func (a *asker) answerTyped(p *mcphubv1.Prompt, line console.Typed) (answer *mcphubv1.PromptAnswer, wrong string) {
	switch {
	case p.GetConfigInput() != nil:
		return answerInput(p, line)
	case p.GetElicitationForm() != nil:
		answer, wrong = a.formOf(p).typed(line)
		if answer != nil {
			a.form, a.sent = nil, p
		}
		return answer, wrong
	case p.GetElicitationUrl() != nil:
		if answer, wrong = yesOrNo(p, line); answer == nil && wrong == "" {
			return door.Accept(p, ""), "" // its address is on the terminal, for the person to open
		}
		return answer, wrong
	}
	if !line.Over && console.IsYes(line.Text) {
		return door.Accept(p, ""), "" // all of it is on the terminal
	}
	return host.Decline(p, "denied on the terminal"), ""
}

// answerInput reads a line as a value. Options are chosen by their number. An empty line means the default, or a no if
// there is none.
func answerInput(p *mcphubv1.Prompt, line console.Typed) (answer *mcphubv1.PromptAnswer, wrong string) {
	options, text := p.GetConfigInput().GetOptions(), line.Text
	if text == "" && !line.Over && p.GetConfigInput().GetDefaultValue() != "" {
		return give(p, p.GetConfigInput().GetDefaultValue()), ""
	}
	if text == "" || line.Over {
		return host.Decline(p, "no value was typed"), ""
	}
	if len(options) == 0 {
		return give(p, text), ""
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 1 && n <= len(options) {
		return give(p, options[n-1].GetValue()), ""
	}
	return nil, "that is no number of an option: 1 to " + strconv.Itoa(len(options))
}
