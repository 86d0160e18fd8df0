package windows

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Window is one view of an editor: an attached stream, or a detached one that may come back.
type Window struct {
	table      *Table
	id, title  string
	actsFor    string
	n          uint64 // order of attachment
	sink       Sink
	kinds      event.Kinds
	extensions map[string]json.RawMessage
	roots      []Root
	attached   bool
	farewell   *time.Timer

	ctx        context.Context // ends with the attachment
	endContext context.CancelCauseFunc
	work       *work // shared by all attachments under this id
}

// ID returns the id of the window. It never changes.
func (w *Window) ID() string { return w.id }

// Title returns the title of the window. It never changes.
func (w *Window) Title() string { return w.title }

// ActsFor returns the program that uses the window on its own; "" means that a person does. It never changes.
func (w *Window) ActsFor() string { return w.actsFor }

// Attached reports whether the window's stream is open.
func (w *Window) Attached() bool { return w.attached }

// Kinds returns the kinds of questions that the window shows.
func (w *Window) Kinds() event.Kinds { return w.kinds }

// Roots returns the workspace folders of the window.
func (w *Window) Roots() []Root { return w.roots }

// Replace replaces the workspace folders. counts reports whether w is still the window with its id.
func (w *Window) Replace(roots []Root) (counts bool) {
	w.roots = roots
	return w.table.windows[w.id] == w
}

// Declare replaces what an attached window can show, and sends it the open prompts that it could not show before.
func (w *Window) Declare(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage) {
	old := w.kinds
	w.declare(kinds, samplingTools)
	w.extensions = extensions
	for _, p := range w.table.House.Prompts() {
		if w.kinds.Has(p.Info.Kind, p.WithTools) && !old.Has(p.Info.Kind, p.WithTools) {
			w.sink.Deliver(w.table.numbered(&event.PromptOpened{Prompt: p.Info}))
		}
	}
}

func (w *Window) declare(kinds []event.PromptKind, samplingTools bool) {
	w.kinds = event.Kinds{}
	for _, k := range kinds {
		w.kinds.Add(k, k == event.PromptSampling && samplingTools)
	}
}

// errStreamEnded is the cause with which the context of an attachment ends.
var errStreamEnded = event.Fail(event.CodeCancelled, event.ReasonCancelled, nil,
	"the stream of the window that asked for it ended")

// Part ends the attachment, and the orders that only this attachment needs.
func (w *Window) Part() { w.endAttachment(errStreamEnded) }

// endAttachment marks w as detached, and ends its context with the cause why.
func (w *Window) endAttachment(why error) {
	w.attached = false
	w.endContext(why)
}

// forget stops the timer of Expect.
func (w *Window) forget() {
	if w.farewell != nil {
		w.farewell.Stop()
	}
}
