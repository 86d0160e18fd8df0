package main

import (
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// liveLine writes to a terminal whose last line shows the current progress. Any other output replaces that line, which
// appears again below with the next progress. It is safe for concurrent use.
type liveLine struct {
	width  func() int // width of the terminal, 0 if it is not known any more
	colour bool

	// mu guards the fields below, and the order of the writes.
	mu    sync.Mutex
	w     io.Writer
	shown bool // the line is visible
	open  bool // the last write did not end its line: there, a question waits for an answer
}

// newLiveLine returns a liveLine for w if w is a terminal that can clear a line, otherwise nil.
func newLiveLine(w io.Writer) *liveLine {
	if !takesEscapes(w) {
		return nil
	}
	return &liveLine{w: w, width: func() int { return terminalWidth(w) }, colour: hasColours(w)}
}

// takesEscapes reports whether w is a terminal that takes escape sequences. TERM says that, and WT_SESSION on Windows.
func takesEscapes(w io.Writer) bool {
	said := os.Getenv("TERM")
	if runtime.GOOS == "windows" {
		said = os.Getenv("WT_SESSION")
	}
	return isTerminal(w) && said != "" && said != "dumb"
}

// hasColours reports whether output to w may be coloured (https://no-color.org).
func hasColours(w io.Writer) bool { return takesEscapes(w) && os.Getenv("NO_COLOR") == "" }

// painted returns s in a colour; "" is none.
func painted(colour, s string) string {
	if colour == "" || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

const clearLine = "\r\x1b[K"

// Write writes text that stays on the terminal.
func (l *liveLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hide()
	if len(p) > 0 {
		l.open = p[len(p)-1] != '\n'
	}
	return l.w.Write(p)
}

// hide clears the line. mu is held.
func (l *liveLine) hide() {
	if l.shown {
		l.shown = false
		_, _ = io.WriteString(l.w, clearLine) // if the terminal is gone, the next write of other text fails
	}
}

// clear clears the line before others write to the terminal.
func (l *liveLine) clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hide()
}

// show shows text on the line, in place of the present text, cut to the width of the terminal. While a question waits
// for an answer, it does nothing.
func (l *liveLine) show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	width := l.width()
	if l.open || width < 10 {
		return
	}
	l.shown = true
	_, _ = io.WriteString(l.w, clearLine+cutColumns(text, width-1))
}

// paint colours a text if there are colours. l may be nil.
func (l *liveLine) paint(colour, s string) string {
	if l == nil || !l.colour {
		return s
	}
	return painted(colour, s)
}

// showProgress shows the progress of a request: a bar if the total is known, and the text of the server.
func (l *liveLine) showProgress(p *mcphubv1.Progress) {
	bar := ""
	if width := l.width(); p.Total != nil && p.GetTotal() > 0 && width >= 50 {
		const cells = 20
		done := int(min(max(p.GetProgress()/p.GetTotal(), 0), 1) * cells)
		bar = "[" + strings.Repeat("=", done) + strings.Repeat(" ", cells-done) + "] "
	}
	l.show("  " + bar + escape(progressText(p)))
}

// colourOf returns the colour for an event: green for success, red for a failure, yellow for a cancel, and dim for log
// messages.
func colourOf(event *mcphubv1.AttachResponse) string {
	switch e := event.GetEvent().(type) {
	case *mcphubv1.AttachResponse_McpRequestFinished:
		if f := e.McpRequestFinished; f.GetHubError() != nil || f.GetMcpError() != nil || f.GetIsError() {
			return red
		}
		return green
	case *mcphubv1.AttachResponse_McpRequestCancelling, *mcphubv1.AttachResponse_McpRequestCancelled,
		*mcphubv1.AttachResponse_McpRequestCancelDelivery:
		return yellow
	case *mcphubv1.AttachResponse_PromptOpened:
		return bold
	case *mcphubv1.AttachResponse_LogMessage:
		return dim
	case *mcphubv1.AttachResponse_ServerChanged:
		switch e.ServerChanged.GetServer().GetState() {
		case mcphubv1.ServerState_SERVER_STATE_FAILED, mcphubv1.ServerState_SERVER_STATE_BROKEN,
			mcphubv1.ServerState_SERVER_STATE_GIVEN_UP:
			return red
		}
		return dim
	}
	return ""
}
