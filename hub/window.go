package hub

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Root is a workspace folder.
type Root struct{ URI, Name string }

// Hello holds what a window says about itself when it attaches.
type Hello struct {
	WindowID      string // "" = the hub chooses one
	Title         string
	Kinds         []event.PromptKind
	SamplingTools bool
	Extensions    map[string]json.RawMessage // extensions of MCP that the window can show, by name
	Roots         []Root
	ComesBackTo   string // the hub that it was attached to before, "" = none
	MaxHistory    int    // how many ended requests the snapshot may hold
	ActsFor       string // the program that uses the window by itself; "" = a person uses it
}

// WindowStart is what a window is sent first: a snapshot, and events with what was too long for it.
type WindowStart struct {
	Snapshot *event.Snapshot
	Events   []event.Event
}

// Sink receives the events of one window, in order. It is called with the hub's lock held: it must not block, and must
// not call the hub.
type Sink interface {
	Deliver(event.Event)
	Closed(err *event.Error) // the hub has ended the window, or its attachment; nothing is delivered afterwards
}

// Window is one view of an editor: an attached stream, or a detached one that may come back. Its methods have the
// operations of its user. They may be called concurrently. The id, title and actsFor never change; all else is guarded
// by the hub's lock.
type Window struct {
	h           *Hub
	id, title   string
	actsFor     string // the program that uses the window on its own; "" means that a person does
	n           uint64 // order of attachment
	sink        Sink
	kinds       event.Kinds
	extensions  map[string]json.RawMessage
	roots       []Root
	attached    bool
	returnTimer *time.Timer // runs while it may come back

	ctx        context.Context // ends with the attachment
	endContext context.CancelCauseFunc
	work       *windowWork // shared by all attachments under this id
}

// ID returns the id of the window. It never changes.
func (w *Window) ID() string { return w.id }

// replace replaces the workspace folders. counts reports whether w is still the window with its id.
func (w *Window) replace(roots []Root) (counts bool) {
	w.roots = roots
	return w.h.windows.windows[w.id] == w
}

// show replaces what an attached window can show, and sends it the open prompts that it could not show before.
func (w *Window) show(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage) {
	old := w.kinds
	w.declare(kinds, samplingTools)
	w.extensions = extensions
	for _, p := range w.h.held().promptsShown() {
		if w.kinds.Has(p.info.Kind, p.withTools) && !old.Has(p.info.Kind, p.withTools) {
			w.sink.Deliver(w.h.windows.numbered(&event.PromptOpened{Prompt: p.info}))
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

// part ends the attachment, and the orders that only this attachment needs.
func (w *Window) part() { w.endAttachment(errStreamEnded) }

// endAttachment marks w as detached, and ends its context with the cause why.
func (w *Window) endAttachment(why error) {
	w.attached = false
	w.endContext(why)
}

// forget stops the timer of windowTable.expect.
func (w *Window) forget() {
	if w.returnTimer != nil {
		w.returnTimer.Stop()
	}
}

// defaultWindowReturn is the default of Options.WindowReturn.
const defaultWindowReturn = 10 * time.Second

// Attach registers a window and returns its start in one step: the events that the sink gets follow the start without a
// gap. Errors: UNAVAILABLE DRAINING, ALREADY_EXISTS WINDOW_ID_IN_USE.
func (h *Hub) Attach(hello Hello, sink Sink) (*Window, *WindowStart, error) {
	in, start, changed, err := h.enter(&hello, sink)
	if err != nil {
		return nil, nil, err
	}
	h.log.Info("window attached", "window_id", bounds.Printable(in.id), "title", bounds.Printable(in.title))
	if changed {
		h.tellRoots()
	}
	return in, start, nil
}

// enter adds a window to the table. changed reports whether the set of workspace folders is different now.
func (h *Hub) enter(hello *Hello, sink Sink) (in *Window, start *WindowStart, changed bool,
	err error) {
	st := h.lock()
	defer st.unlock()
	if st.core.Draining() {
		return nil, nil, false, event.ErrDraining()
	}
	before := st.allRoots()
	if in, start, err = h.windows.attach(hello, sink); err != nil {
		return nil, nil, false, err
	}
	h.grants.SetFolders(in.id, foldersOfRoots(in.roots))
	st.apply(core.WindowShows{Window: in.id, Shows: in.kinds})
	st.consentsChanged() // an approval may hold for its folders
	st.offer()
	return in, start, !slices.Equal(before, st.allRoots()), nil
}

// Cancel cancels a request with origin user: the Cancel button.
func (w *Window) Cancel(id, reason string) (event.Outcome, error) {
	return w.h.CancelRequest(id, "", reason, event.OriginUser)
}

// SetRoots replaces the workspace folders of this window. Servers that list roots are told.
func (w *Window) SetRoots(roots []Root) {
	w.h.changeRoots(func(st *state) {
		if w.replace(roots) {
			w.h.grants.SetFolders(w.id, foldersOfRoots(roots))
		}
		st.apply(core.AnswerPossible{})
		st.consentsChanged()
	})
}

// changeRoots runs f with the lock, and tells the servers if the set of workspace folders is different after f.
func (h *Hub) changeRoots(f func(st *state)) {
	var changed bool
	h.update(func(st *state) {
		before := st.allRoots()
		f(st)
		changed = !slices.Equal(before, st.allRoots())
	})
	if changed {
		h.tellRoots()
	}
}

// SetCapabilities replaces what this window can show. The window gets the open prompts that it can show now and could
// not show before.
func (w *Window) SetCapabilities(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage) {
	h := w.h
	st := h.lock()
	defer st.unlock()
	if !w.attached {
		return
	}
	w.show(kinds, samplingTools, extensions)
	st.apply(core.WindowShows{Window: w.id, Shows: w.kinds})
	st.offer()
}

// Detach ends the attachment, and what the user has requested for this attachment only. If final, the window was closed
// for good: the calls that it owns are cancelled, and its approvals end, at once. Otherwise that happens if the window
// has not come back within Options.WindowReturn. Detach is idempotent.
func (w *Window) Detach(final bool) {
	h, parted := w.h, false
	h.changeRoots(func(st *state) {
		if parted = w.attached; !parted {
			return
		}
		w.part()
		st.windowMayGo(w.id, core.WindowDetached{Window: w.id, Final: final, Return: h.windowReturn})
	})
	if parted {
		h.log.Info("window detached", "window_id", bounds.Printable(w.id), "final", final)
	}
}

// windowTimer lets the core look whether a window has come back.
func (h *Hub) windowTimer(id string) {
	h.changeRoots(func(st *state) {
		st.windowMayGo(id, core.WindowTimer{Window: id})
	})
}

// windowMayGo applies an event with which a window may be gone. Consents that end with it may stop servers: that comes
// when all else has been carried out, so that the windows are told of the requests of such a server first.
func (st *state) windowMayGo(id string, e core.Event) {
	st.seeWithdrawalsIn(core.Scope{Owner: id})
	if st.apply(e); st.core.WindowGone(id) {
		st.consentsChanged()
	}
}

// windowGone ends what belongs to a window besides its calls, and what follows from the end of its consents.
func (st *state) windowGone(id string) {
	st.windows.remove(id)
	st.grants.EndWindow(id)
	st.unsubscribe(id)
}
