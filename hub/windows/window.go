package windows

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Window is one view of an editor: an attached stream, or a detached one that may come back.
type Window struct {
	table         *Table
	id, title     string
	actsFor       string
	n             uint64 // order of attachment
	sink          Sink
	kinds         map[event.PromptKind]bool
	samplingTools bool
	extensions    map[string]json.RawMessage
	roots         []Root
	attached      bool
	gone          bool // detached for good
	farewell      *time.Timer

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

// Roots returns the workspace folders of the window.
func (w *Window) Roots() []Root { return w.roots }

// Replace replaces the workspace folders. counts reports whether w is still the window with its id, and not detached
// for good.
func (w *Window) Replace(roots []Root) (counts bool) {
	w.roots = roots
	return w.counts()
}

func (w *Window) counts() bool { return w.table.windows[w.id] == w && !w.gone }

// Declare replaces what an attached window can show, and sends it the open prompts that it could not show before.
func (w *Window) Declare(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage) {
	old := Window{kinds: w.kinds, samplingTools: w.samplingTools}
	w.declare(kinds)
	w.samplingTools, w.extensions = samplingTools, extensions
	for _, p := range w.table.House.Prompts() {
		if w.Shows(p.Info.Kind, p.WithTools) && !old.Shows(p.Info.Kind, p.WithTools) {
			w.sink.Deliver(w.table.numbered(&event.PromptOpened{Prompt: p.Info}))
		}
	}
}

func (w *Window) declare(kinds []event.PromptKind) {
	w.kinds = map[event.PromptKind]bool{}
	for _, k := range kinds {
		w.kinds[k] = true
	}
}

// errStreamEnded is the cause with which the context of an attachment ends.
var errStreamEnded = event.Fail(event.CodeCancelled, event.ReasonCancelled, nil,
	"the stream of the window that asked for it ended")

// Part ends the attachment, and the orders that only this attachment needs.
func (w *Window) Part() { w.endAttachment(errStreamEnded) }

// Expect calls notBack, without the lock, unless the window comes back in time.
func (w *Window) Expect(within time.Duration, notBack func()) {
	w.farewell = time.AfterFunc(within, notBack)
}

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

// Depart marks w as detached for good. It returns false, and does nothing, if another window has taken the place of w,
// or w had departed before.
func (w *Window) Depart() bool {
	if !w.counts() {
		return false
	}
	w.gone = true
	var gone []*Window
	for _, other := range w.table.inOrder() {
		if other.gone {
			gone = append(gone, other)
		}
	}
	for _, oldest := range gone[:max(0, len(gone)-maxGone)] {
		delete(w.table.windows, oldest.id)
	}
	return true
}
