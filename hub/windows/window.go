package windows

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Window is one attached view.
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
	gone          bool // detached for good; remembered for a resume only
	farewell      *time.Timer

	ctx        context.Context // of what is to end with the attachment
	endContext context.CancelCauseFunc
	work       *work // what the user has asked for in it, over all attachments
}

// ID of the window. It never changes.
func (w *Window) ID() string { return w.id }

// Title of the window. It never changes.
func (w *Window) Title() string { return w.title }

// ActsFor is the program that acts in it by itself, "" = a person does. It never changes.
func (w *Window) ActsFor() string { return w.actsFor }

// Attached tells whether its stream is there.
func (w *Window) Attached() bool { return w.attached }

// Roots are its workspace folders.
func (w *Window) Roots() []Root { return w.roots }

// Replace puts other workspace folders in their place. counts tells whether w is the window of its id still, and not
// gone.
func (w *Window) Replace(roots []Root) (counts bool) {
	w.roots = roots
	return w.counts()
}

func (w *Window) counts() bool { return w.table.windows[w.id] == w && !w.gone }

// Declare replaces what an attached window can show. It is given the open prompts that it can show now and could not
// before.
func (w *Window) Declare(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage) {
	old := Window{kinds: w.kinds, samplingTools: w.samplingTools}
	w.declare(kinds)
	w.samplingTools, w.extensions = samplingTools, extensions
	for _, p := range w.table.House.Prompts() {
		if w.Shows(p.Info.Kind, p.WithTools) && !old.Shows(p.Info.Kind, p.WithTools) {
			w.sink.Deliver(w.table.private(w, &event.PromptOpened{Prompt: p.Info}))
		}
	}
}

func (w *Window) declare(kinds []event.PromptKind) {
	w.kinds = map[event.PromptKind]bool{}
	for _, k := range kinds {
		w.kinds[k] = true
	}
}

// errStreamEnded is the cause of what ends with the attachment of its window.
var errStreamEnded = event.Fail(event.CodeCancelled, event.ReasonCancelled, nil,
	"the stream of the window that asked for it ended")

// Part ends the attachment, and what the user has asked for that is for this attachment alone.
func (w *Window) Part() { w.endAttachment(errStreamEnded) }

// Expect waits for the window to come back. notBack is called when it has not, without the lock.
func (w *Window) Expect(within time.Duration, notBack func()) {
	w.farewell = time.AfterFunc(within, notBack)
}

// endAttachment is the end of an attachment.
func (w *Window) endAttachment(why error) {
	w.attached = false
	w.endContext(why)
}

// forget expects the window no longer.
func (w *Window) forget() {
	if w.farewell != nil {
		w.farewell.Stop()
	}
}

// Depart is the end of a window that is detached for good. It stays in the table for a resume. false: it has come back,
// or had departed.
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
