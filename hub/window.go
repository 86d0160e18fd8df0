package hub

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// defaultWindowReturn is the default of Options.WindowReturn.
const defaultWindowReturn = 10 * time.Second

// Window has the operations of the user in one attached view. Its methods may be called concurrently.
type Window struct {
	windows.Orders
	h  *Hub
	in *windows.Window
}

// Attach registers a window and returns its start in one step: the events that the sink gets follow the start without a
// gap. Errors: UNAVAILABLE DRAINING, ALREADY_EXISTS WINDOW_ID_IN_USE.
func (h *Hub) Attach(hello windows.Hello, sink windows.Sink) (*Window, *windows.Start, error) {
	in, start, changed, err := h.enter(&hello, sink)
	if err != nil {
		return nil, nil, err
	}
	h.log.Info("window attached", "window_id", bounds.Printable(in.ID()), "title", bounds.Printable(in.Title()))
	if changed {
		h.table.TellRoots()
	}
	return &Window{Orders: in.Orders(), h: h, in: in}, start, nil
}

// enter adds a window to the table. changed reports whether the set of workspace folders is different now.
func (h *Hub) enter(hello *windows.Hello, sink windows.Sink) (in *windows.Window, start *windows.Start, changed bool,
	err error) {
	st := h.lock()
	defer st.unlock()
	if st.core.Draining() {
		return nil, nil, false, event.ErrDraining()
	}
	before := st.allRoots()
	if in, start, err = h.windows.Attach(hello, sink); err != nil {
		return nil, nil, false, err
	}
	h.grants.SetFolders(in.ID(), windows.Folders(in.Roots()))
	st.apply(core.WindowShows{Window: in.ID(), Shows: in.Kinds()})
	st.consentsChanged() // an approval may hold for its folders
	h.table.Offer()
	return in, start, !slices.Equal(before, st.allRoots()), nil
}

// Cancel cancels a request with origin user: the Cancel button.
func (w *Window) Cancel(id, reason string) (event.Outcome, error) {
	return w.h.CancelRequest(id, "", reason, event.OriginUser)
}

// SetRoots replaces the workspace folders of this window. Servers that list roots are told.
func (w *Window) SetRoots(roots []windows.Root) {
	w.h.changeRoots(func(st *state) {
		if w.in.Replace(roots) {
			w.h.grants.SetFolders(w.ID(), windows.Folders(roots))
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
		h.table.TellRoots()
	}
}

// SetCapabilities replaces what this window can show. The window gets the open prompts that it can show now and could
// not show before.
func (w *Window) SetCapabilities(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage) {
	h := w.h
	st := h.lock()
	defer st.unlock()
	if !w.in.Attached() {
		return
	}
	w.in.Declare(kinds, samplingTools, extensions)
	st.apply(core.WindowShows{Window: w.ID(), Shows: w.in.Kinds()})
	h.table.Offer()
}

// Detach ends the attachment, and what the user has requested for this attachment only. If final, the window was closed
// for good: the calls that it owns are cancelled, and its approvals end, at once. Otherwise that happens if the window
// has not come back within Options.WindowReturn. Detach is idempotent.
func (w *Window) Detach(final bool) {
	h, parted := w.h, false
	h.changeRoots(func(st *state) {
		if parted = w.in.Attached(); !parted {
			return
		}
		w.in.Part()
		st.windowMayGo(w.ID(), core.WindowDetached{Window: w.ID(), Final: final, Return: h.windowReturn})
	})
	if parted {
		h.log.Info("window detached", "window_id", bounds.Printable(w.ID()), "final", final)
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
	st.windows.Remove(id)
	st.grants.EndWindow(id)
	st.unsubscribe(id)
}

// screen is the hub as package windows sees it.
type screen struct{ h *Hub }

// Update runs f with the lock.
func (s screen) Update(f func()) { s.h.within(f) }

// MintWindow returns a new id for a window.
func (s screen) MintWindow(n uint64) string { return s.h.held().core.OwnID("window", n) }

// Shows returns what the windows together can show.
func (s screen) Shows() event.Kinds { return s.h.held().core.Shows() }

// WithTools reports whether the prompt is a sampling question that brings tools.
func (s screen) WithTools(promptID string) bool {
	st := s.h.held()
	p := st.prompts[st.promptNumber(promptID)]
	return p != nil && p.withTools
}

// Prompts returns the open prompts that windows show, oldest first.
func (s screen) Prompts() (list []windows.Prompt) {
	for _, p := range s.h.held().promptsInOrder() {
		if p.hidden {
			continue
		}
		list = append(list, windows.Prompt{Info: p.info, WithTools: p.withTools})
	}
	return list
}

// Requests returns the open requests, oldest first.
func (s screen) Requests() []event.RequestInfo {
	return s.h.held().requestInfos(func(*request) bool { return true })
}

// Servers returns the servers in config order, and the problems of the config.
func (s screen) Servers() ([]event.ServerInfo, []event.ConfigProblem) {
	return s.h.held().serverInfos(), s.h.config.Problems()
}
