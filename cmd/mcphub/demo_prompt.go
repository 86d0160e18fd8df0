package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const promptHelp = `    call TOOL [JSON]                       call a tool of the server demo
    call SERVER TOOL [JSON]                or of another one: demo-legacy, whose tools can withdraw questions,
                                           demo-http or demo-http-legacy, which are behind URLs
    cancel ID [REASON]                     cancel a request
    answer ID accept [JSON]                answer a question: a form takes JSON, sampling a text, an input its value
    answer ID decline [REASON] | dismiss
    tools | requests | prompts | servers   what there is
    web                                    see and click all of this in a browser
    help | quit`

// prompt is the hand-driven part of the demo. Requests are c1, c2 and so on, questions q1, q2.
type prompt struct {
	page *page
	// mu guards what follows: events are shown by the goroutine that reads the window, commands come from another.
	mu              sync.Mutex
	tell            *teller
	names           map[string]string           // by the hub's id of a question or of a server's request
	open            map[string]*mcphubv1.Prompt // by our name
	questions, asks int                         // named so far

	calls int // made so far; owned by the goroutine of the commands
}

func newPrompt(p *page) *prompt {
	h := &prompt{page: p, names: map[string]string{}, open: map[string]*mcphubv1.Prompt{}, tell: newTeller("")}
	h.tell.nameOf = h.nameOf
	return h
}

// nameOf gives the short name of an id; its own when it has none. Called with mu held.
func (h *prompt) nameOf(id string) string {
	if name, ok := h.names[id]; ok {
		return name
	}
	return id
}

const promptSign = "mcphub> "

// show tells an event to the person who drives, if one does.
func (d *demo) show(e *mcphubv1.AttachResponse) {
	if h := d.hand.Load(); h != nil {
		h.show(e)
	}
}

// show tells an event above the line that is being typed.
func (h *prompt) show(e *mcphubv1.AttachResponse) {
	if lines := h.take(e); len(lines) > 0 {
		h.above(lines...)
	}
}

// above prints lines in the place of the sign, which comes back below them.
func (h *prompt) above(lines ...string) {
	h.page.print(h.page.lineStart() + "    " + strings.Join(lines, "\n    ") + "\n" + promptSign)
}

// take keeps what an event says of questions, and gives the lines that tell it.
func (h *prompt) take(e *mcphubv1.AttachResponse) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := e.GetPromptOpened().GetPrompt(); p != nil {
		h.questions++
		name := fmt.Sprintf("q%d", h.questions)
		h.names[p.GetPromptId()] = name
		h.open[name] = p
	}
	if r := e.GetMcpRequestStarted().GetRequest(); r.GetDirection() ==
		mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING {
		h.asks++
		h.names[r.GetRequestId()] = fmt.Sprintf("r%d", h.asks)
	}
	lines := h.tell.lines(e)
	if closed := e.GetPromptClosed(); closed != nil {
		delete(h.open, h.names[closed.GetPromptId()])
	}
	return lines
}

// name gives the short name of an id.
func (h *prompt) name(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.nameOf(id)
}

// idOf gives the hub's id for what a person typed: a short name, or an id as it is.
func (h *prompt) idOf(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, n := range h.names {
		if n == name {
			return id
		}
	}
	return name
}

// question gives an open question by its short name.
func (h *prompt) question(name string) (*mcphubv1.Prompt, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.open[name]
	return p, ok
}

// list tells every open question again.
func (h *prompt) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(h.open)) {
		lines = append(lines, h.tell.question(h.open[name])...)
	}
	return lines
}

// handOver lets the person drive the hub until quit.
func (d *demo) handOver(ctx context.Context) error {
	if err := d.next(ctx); err != nil {
		return err
	}
	h := newPrompt(d.page)
	d.page.line("\n%s\n%s", d.page.paint(bold, "    Now the hub is yours."), promptHelp)
	d.page.line("\n    Try: call sleep {\"seconds\":60}   and then: cancel c1 enough")
	d.page.line("    Or:  web   and see all of this in a browser.\n")
	d.hand.Store(h)
	defer d.hand.Store(nil)
	for {
		d.page.print(promptSign)
		select {
		case line, ok := <-d.lines:
			if !ok || isQuit(line) {
				return nil
			}
			if err := d.command(ctx, h, line); err != nil {
				d.page.line("    %s", escape(err.Error()))
			}
		case <-ctx.Done():
			d.page.line("")
			return context.Cause(ctx)
		}
	}
}

func isQuit(line string) bool {
	switch strings.TrimSpace(line) {
	case "q", "quit", "exit":
		return true
	}
	return false
}
