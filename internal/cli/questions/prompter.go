package questions

import (
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
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
