package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// page is the demo's output: numbered steps, and below each step the actions of the actors. Lines of different
// goroutines do not mix.
type page struct {
	colour bool
	// mu guards w. It is held for one line at a time.
	mu sync.Mutex
	w  io.Writer
}

// newPage returns a page that writes to w.
func newPage(w io.Writer) *page {
	return &page{w: w, colour: hasColours(w)}
}

// Colours of the page.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *page) paint(colour, s string) string {
	if !p.colour {
		return s
	}
	return painted(colour, s)
}

func (p *page) print(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.w, s)
}

func (p *page) line(format string, args ...any) { p.print(fmt.Sprintf(format, args...) + "\n") }

// title begins a step. about says what to look for. Its author has wrapped it.
func (p *page) title(number int, title, about string) {
	p.line("\n%s", p.paint(bold, fmt.Sprintf("%2d  %s", number, title)))
	for line := range strings.Lines(about) {
		p.line("    %s", p.paint(dim, strings.TrimRight(line, "\n")))
	}
}

// The actors of the demo.
const (
	you     = "you"
	itself  = "hub"
	server  = "server"
	screenA = "side bar"
	screenB = "panel"
)

// says prints what an actor did. It escapes the text of servers.
func (p *page) says(actor, format string, args ...any) {
	p.line("    %s %s", p.paint(dim, fmt.Sprintf("%-8s", actor)), escape(fmt.Sprintf(format, args...)))
}

func (p *page) ok(format string, args ...any) {
	p.line("    %s %s", p.paint(green, fmt.Sprintf("%-8s", "ok")), fmt.Sprintf(format, args...))
}

func (p *page) failed(err error) {
	p.line("    %s %s", p.paint(red, fmt.Sprintf("%-8s", "FAILED")), escape(err.Error()))
}
