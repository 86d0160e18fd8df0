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

// prompt is the part of the demo in which a person controls the hub. Requests are named c1, c2 and so on, questions q1,
// q2.
type prompt struct {
	page *page
	// mu guards tell, names, open, questions and asks: the goroutine that reads the window shows events, and another one
	// runs commands.
	mu              sync.Mutex
	tell            *teller
	names           map[string]string           // short names, by the hub's id of a question or of a server's request
	open            map[string]*mcphubv1.Prompt // by short name
	questions, asks int                         // how many were named

	calls int // how many were made; owned by the goroutine of the commands
}

func newPrompt(p *page) *prompt {
	h := &prompt{page: p, names: map[string]string{}, open: map[string]*mcphubv1.Prompt{}, tell: newTeller("")}
	h.tell.nameOf = h.nameOf
	return h
}

// nameOf returns the short name of an id, or the id if it has none. It is called with mu held.
func (h *prompt) nameOf(id string) string {
	if name, ok := h.names[id]; ok {
		return name
	}
	return id
}

const promptSign = "mcphub> "

// show shows an event to the person, if the person controls the hub.
func (d *demo) show(e *mcphubv1.AttachResponse) {
	if h := d.hand.Load(); h != nil {
		h.show(e)
	}
}

// show prints an event above the line that is being typed.
func (h *prompt) show(e *mcphubv1.AttachResponse) {
	if lines := h.take(e); len(lines) > 0 {
		h.above(lines...)
	}
}

// above prints lines in place of the prompt sign, and prints the sign again below them.
func (h *prompt) above(lines ...string) {
	h.page.print(h.page.lineStart() + "    " + strings.Join(lines, "\n    ") + "\n" + promptSign)
}

// take records what an event says about questions, and returns the lines that describe the event.
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

// name returns the short name of an id.
func (h *prompt) name(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.nameOf(id)
}

// idOf returns the hub's id for a typed name, which may be a short name or an id.
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

// question returns the open question with a short name.
func (h *prompt) question(name string) (*mcphubv1.Prompt, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.open[name]
	return p, ok
}

// list returns the lines that describe all open questions.
func (h *prompt) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(h.open)) {
		lines = append(lines, h.tell.question(h.open[name])...)
	}
	return lines
}

// handOver lets the person control the hub until quit.
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
