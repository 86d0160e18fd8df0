package hub

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// defaultWindowReturn is Options.WindowReturn of those who do not say.
const defaultWindowReturn = 10 * time.Second

// maxGone bounds how many detached windows are remembered for a resume.
const maxGone = 256

// Window is one attached view. Its fields are guarded by Hub.mu; its methods may be called concurrently.
type Window struct {
	h             *Hub
	id, title     string
	n             uint64 // order of attachment
	sink          Sink
	kinds         map[event.PromptKind]bool
	samplingTools bool
	extensions    map[string]json.RawMessage
	listed        []Root
	attached      bool
	gone          bool // detached for good; remembered for a resume only
	farewell      *time.Timer

	ctx        context.Context // of what is to end with the attachment
	endContext context.CancelCauseFunc
	work       *windowWork // what the user has asked for in it, over all attachments
}

// Attach registers a window and gives its start in one step: what is delivered to the sink follows the start without a
// gap. Errors: UNAVAILABLE DRAINING, ALREADY_EXISTS WINDOW_ID_IN_USE.
func (h *Hub) Attach(hello Hello, sink Sink) (*Window, *Start, error) {
	w, start, changed, err := h.enter(hello, sink)
	if err != nil {
		return nil, nil, err
	}
	h.log.Info("window attached", "window_id", bounds.Printable(w.id), "title", bounds.Printable(w.title),
		"resumed", start.Resumed)
	if changed {
		h.tellRoots()
	}
	return w, start, nil
}

// enter brings a window into the table; changed tells that there are other workspace folders now.
func (h *Hub) enter(hello Hello, sink Sink) (w *Window, start *Start, changed bool, err error) {
	defer h.lock().unlock()
	if h.draining {
		return nil, nil, false, event.ErrDraining()
	}
	before := h.windows[hello.WindowID]
	if before != nil && before.attached && hello.Resume != nil && hello.Resume.HubID == h.id {
		// It knows what only that window can know: its stream broke, and the hub has not noticed yet.
		superseded := event.Fail(event.CodeFailedPrecondition, event.ReasonWindowSuperseded,
			[]string{"window_id", hello.WindowID},
			"the window was attached again on another stream")
		before.endAttachment(superseded)
		before.sink.Closed(superseded)
	}
	if before != nil && before.attached {
		return nil, nil, false, event.Fail(event.CodeAlreadyExists, event.ReasonWindowIDInUse,
			[]string{"window_id", hello.WindowID},
			"a window with the id %q is attached; give each window an id of its own", bounds.Printable(hello.WindowID))
	}
	h.attached++
	w = &Window{h: h, id: hello.WindowID, title: hello.Title, n: h.attached, sink: sink, listed: hello.Roots,
		samplingTools: hello.SamplingTools, extensions: hello.Extensions, attached: true}
	w.ctx, w.endContext = context.WithCancelCause(h.life)
	w.work = &windowWork{}
	w.declare(hello.Kinds)
	if w.id == "" {
		w.id = h.ownID("window", w.n)
		for h.windows[w.id] != nil {
			w.id += "'"
		}
	}
	start = h.start(w, &hello, before)
	rootsBefore := h.roots()
	if before != nil {
		before.forget()
		w.work = before.work
	}
	h.windows[w.id] = w
	h.grants.SetFolders(w.id, folders(w.listed))
	changed = !slices.Equal(rootsBefore, h.roots())
	h.closeUnshowable() // it may come back with fewer kinds
	h.consentsChanged() // a yes may hold where its folders are open
	h.capabilitiesGrew()
	return w, start, changed, nil
}

// start gives what the window missed, or a snapshot. h.mu is held; w is not in the table yet.
func (h *Hub) start(w *Window, hello *Hello, before *Window) *Start {
	resume := hello.Resume
	if resume != nil && before != nil && resume.HubID == h.id && resume.After <= h.seq {
		if events, ok := h.missed.After(resume.After, w.id); ok {
			s := &Start{Resumed: true}
			told := map[string]bool{}
			for _, e := range events {
				opened, ok := e.Body.(*event.PromptOpened)
				if !w.wants(e.Body) || ok && told[opened.Prompt.ID] {
					continue
				}
				if ok {
					told[opened.Prompt.ID] = true
				}
				s.Events = append(s.Events, e)
			}
			for _, p := range h.promptsInOrder() { // of kinds that it could not show before, opened before what it missed
				if w.shows(p) && !before.shows(p) && !told[p.id] {
					s.Events = append(s.Events, h.private(w, &event.PromptOpened{Prompt: p.info}))
				}
			}
			for _, r := range h.requestsInOrder() { // progress is not journaled
				s.Events = append(s.Events, h.private(w, &event.RequestProgressed{RequestID: r.id, Server: r.server.name,
					State:    r.state,
					Progress: r.progress, WireID: r.wireID, Task: r.task}))
			}
			return s
		}
	}
	snap := &event.Snapshot{Seq: h.seq, Time: time.Now(), Problems: h.config.Problems(),
		History: h.history.Latest(hello.MaxHistory)}
	start := &Start{Snapshot: snap}
	room := bounds.SnapshotServers / max(len(h.servers), 1)
	for _, s := range h.servers {
		info := s.info()
		if event.PayloadSize(&event.ServerChanged{Server: info}) > room { // told in full right after
			start.Events = append(start.Events, event.Event{Body: &event.ServerChanged{Server: info}})
			info.Instructions, info.Capabilities, info.Stderr = "", "", nil
		}
		snap.Servers = append(snap.Servers, info)
	}
	for _, r := range h.requestsInOrder() {
		snap.Requests = append(snap.Requests, r.info())
	}
	room = bounds.SnapshotPrompts
	for _, p := range h.promptsInOrder() {
		switch size := p.info.Size(); {
		case !w.shows(p):
		case size > room: // as questions that open now
			start.Events = append(start.Events, event.Event{Body: &event.PromptOpened{Prompt: p.info}})
		default:
			room -= size
			snap.Prompts = append(snap.Prompts, p.info)
		}
	}
	for i, e := range start.Events { // their numbers come after that of the snapshot
		start.Events[i] = h.private(w, e.Body)
	}
	return start
}

// private makes an event for one window alone; its number is used for nothing else. h.mu is held.
func (h *Hub) private(w *Window, b event.Body) event.Event {
	h.seq++
	e := event.Event{Seq: h.seq, Time: time.Now(), Body: b}
	h.missed.Add(e, w.id)
	return e
}

// endAttachment is the end of an attachment. h.mu is held.
func (w *Window) endAttachment(why error) {
	w.attached = false
	w.endContext(why)
}

// ID of the window.
func (w *Window) ID() string { return w.id }

// Cancel cancels a request with origin user: the Cancel button.
func (w *Window) Cancel(id, reason string) (event.Outcome, error) {
	return w.h.CancelRequest(id, "", reason, event.OriginUser)
}

// SetRoots replaces the workspace folders of this window; servers that list roots are told.
func (w *Window) SetRoots(roots []Root) {
	h := w.h
	var changed bool
	h.update(func() {
		before := h.roots()
		w.listed = roots
		if h.windows[w.id] == w && !w.gone {
			h.grants.SetFolders(w.id, folders(roots))
		}
		h.table.Company()
		h.consentsChanged()
		changed = !slices.Equal(before, h.roots())
	})
	if changed {
		h.tellRoots()
	}
}

// SetCapabilities replaces what this window can show. It is given the open prompts that it can show now and could not
// before.
func (w *Window) SetCapabilities(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage) {
	h := w.h
	defer h.lock().unlock()
	if !w.attached {
		return
	}
	old := Window{kinds: w.kinds, samplingTools: w.samplingTools}
	w.declare(kinds)
	w.samplingTools, w.extensions = samplingTools, extensions
	for _, p := range h.promptsInOrder() {
		if w.shows(p) && !old.shows(p) {
			w.sink.Deliver(h.private(w, &event.PromptOpened{Prompt: p.info}))
		}
	}
	h.closeUnshowable()
	h.capabilitiesGrew()
}

// Detach ends the attachment, and what the user has asked for that is for this attachment alone. final says that the
// window closed for good: the calls that it owns are cancelled and its approvals end at once; else that happens when it
// has not come back within Options.WindowReturn. Idempotent.
func (w *Window) Detach(final bool) {
	h := w.h
	var parted, changed bool
	h.update(func() {
		if parted = w.attached; !parted {
			return
		}
		before := h.roots()
		w.endAttachment(errStreamEnded)
		if final {
			h.depart(w)
		} else {
			w.farewell = time.AfterFunc(h.windowReturn, w.notBack)
		}
		changed = !slices.Equal(before, h.roots())
	})
	if !parted {
		return
	}
	h.log.Info("window detached", "window_id", bounds.Printable(w.id), "final", final)
	if changed {
		h.tellRoots()
	}
}

// notBack is the end of the time that a window may take to come back.
func (w *Window) notBack() {
	h := w.h
	var changed bool
	h.update(func() {
		before := h.roots()
		if h.windows[w.id] == w && !w.gone {
			h.depart(w)
		}
		changed = !slices.Equal(before, h.roots())
	})
	if changed {
		h.tellRoots()
	}
}

// ownerClosed is why a call ends that belongs to a window which has closed for good.
var ownerClosed = &event.CancelCause{Origin: event.OriginHost, Reason: "the window that owns the call closed"}

// depart ends what belongs to a window. It stays in the table for a resume. h.mu is held.
func (h *Hub) depart(w *Window) {
	w.gone = true
	h.grants.EndWindow(w.id)
	h.consentsChanged()
	for _, r := range h.requestsInOrder() {
		if r.owner != "" && r.owner == w.id {
			h.cancel(r, ownerClosed)
		}
	}
	h.closeUnshowable()
	var gone []*Window
	for _, other := range h.windowsInOrder() {
		if other.gone {
			gone = append(gone, other)
		}
	}
	for _, oldest := range gone[:max(0, len(gone)-maxGone)] {
		delete(h.windows, oldest.id)
	}
}
