package main

import (
	"context"
	"fmt"
	"sync"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// doorman reads the window of a command that lists. It answers what a server needs to start, by the flags or on the
// terminal. With --watch it prints the changes.
type doorman struct {
	env      environment
	window   *window
	options  *listOptions
	tell     *teller
	asker    asker
	terminal bool
	gone     context.CancelCauseFunc // called if the window ends under --watch
	reader   sync.WaitGroup
}

func newDoorman(env environment, w *window, o *listOptions, terminal bool, gone context.CancelCauseFunc) *doorman {
	d := &doorman{
		env: env, window: w, options: o, gone: gone, tell: newTeller(""), asker: asker{env: env}, terminal: terminal,
	}
	d.reader.Go(d.read)
	return d
}

// leave closes the window and waits for the goroutine that reads it.
func (d *doorman) leave() {
	d.window.close()
	d.reader.Wait()
}

// read reads the window until it ends. All fields but options belong to its goroutine.
func (d *doorman) read() {
	defer d.asker.close()
	for {
		select {
		case event, ok := <-d.window.events:
			if !ok {
				if d.options.watch {
					d.gone(fmt.Errorf("the window ended: %v", orDone(d.window.err)))
				}
				return
			}
			d.event(event)
		case line := <-d.asker.lines():
			d.window.answer(d.asker.typed(line)...)
		}
	}
}

func (d *doorman) event(event *mcphubv1.AttachResponse) {
	switch e := event.GetEvent().(type) {
	case *mcphubv1.AttachResponse_Snapshot:
		// A server that starts with the config may ask before this window is attached.
		for _, p := range e.Snapshot.GetPrompts() {
			d.opened(p)
		}
	case *mcphubv1.AttachResponse_PromptOpened:
		d.opened(e.PromptOpened.GetPrompt())
	case *mcphubv1.AttachResponse_PromptClosed:
		d.window.answer(d.asker.closed(e.PromptClosed.GetPromptId())...)
	case *mcphubv1.AttachResponse_Reply:
		if why := d.window.dismissUnfit(e.Reply); why != "" {
			d.env.tell("  %s", why)
		}
	case *mcphubv1.AttachResponse_ServerChanged, *mcphubv1.AttachResponse_ConfigReloaded,
		*mcphubv1.AttachResponse_ToolsChanged:
		d.changed(event)
	}
}

// opened answers a question, or asks the person.
func (d *doorman) opened(p *mcphubv1.Prompt) {
	for _, line := range d.tell.question(p) {
		d.env.tell("  %s", line)
	}
	answer, note, ask := d.answerTo(p)
	if note != "" {
		d.env.tell("  %s", note)
	}
	switch {
	case answer != nil:
		d.window.answer(answer)
	case ask:
		d.window.answer(d.asker.ask(p)...)
	}
}

// answerTo answers the questions that a server asks in order to start. It declines all others, since nothing is called
// here.
func (d *doorman) answerTo(p *mcphubv1.Prompt) (answer *mcphubv1.PromptAnswer, note string, ask bool) {
	switch p.GetQuestion().(type) {
	case *mcphubv1.Prompt_SignIn, *mcphubv1.Prompt_ServerLaunch, *mcphubv1.Prompt_ConfigInput:
		return d.options.answers.answerTo(p, d.terminal)
	}
	return decline(p.GetPromptId(), "this command only lists"), "declined: this command only lists", false
}

// changed prints a change under --watch.
func (d *doorman) changed(event *mcphubv1.AttachResponse) {
	switch {
	case !d.options.watch:
	case d.options.json:
		printJSON(d.env.stdout, event)
	default:
		for _, line := range d.tell.lines(event) {
			fmt.Fprintln(d.env.stdout, line)
		}
	}
}
