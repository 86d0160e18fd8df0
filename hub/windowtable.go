package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// windowTable is the set of a hub's windows, and the events that they are sent. It is guarded by the hub's lock.
type windowTable struct {
	hub     *Hub
	history journal.History // the requests that have ended

	seq      uint64                 // number of the latest event
	windows  map[string]*Window     // the attached windows, and detached ones that may come back
	attached uint64                 // counts attachments, for order
	running  int                    // how many orders of all windows are running
	left     map[string]*windowWork // the work of windows that are gone, while something of it runs
}

func newWindowTable(h *Hub) *windowTable {
	return &windowTable{hub: h, windows: map[string]*Window{}, left: map[string]*windowWork{}}
}

// count returns the number of windows, including the detached ones that may come back.
func (t *windowTable) count() int { return len(t.windows) }

// emit sends an event to every attached window that wants it, and records the end of a request.
func (t *windowTable) emit(b event.Body) {
	e := t.numbered(b)
	switch b.(type) {
	case *event.RequestCancelled, *event.RequestFinished:
		t.history.Add(e)
	}
	for _, w := range t.windows {
		if w.attached && w.wants(b) {
			w.sink.Deliver(e)
		}
	}
}

// numbered returns a new event. No other event has its number.
func (t *windowTable) numbered(b event.Body) event.Event {
	t.seq++
	return event.Event{Seq: t.seq, Time: time.Now(), Body: b}
}

// attach adds a window to the table, and returns what it is sent first. The events that the sink gets follow the start
// without a gap. Error: ALREADY_EXISTS WINDOW_ID_IN_USE.
func (t *windowTable) attach(hello *Hello, sink Sink) (*Window, *WindowStart, error) {
	before := t.windows[hello.WindowID]
	if before != nil && before.attached && hello.ComesBackTo == t.hub.id {
		// Only that window knows both ids: its stream broke, and the hub has not noticed that yet.
		superseded := event.Fail(event.CodeFailedPrecondition, event.ReasonWindowSuperseded,
			[]string{"window_id", hello.WindowID},
			"the window was attached again on another stream")
		before.endAttachment(superseded)
		before.sink.Closed(superseded)
	}
	if before != nil && before.attached {
		return nil, nil, event.Fail(event.CodeAlreadyExists, event.ReasonWindowIDInUse,
			[]string{"window_id", hello.WindowID},
			"a window with the id %q is attached; give each window an id of its own", bounds.Printable(hello.WindowID))
	}
	t.attached++
	w := &Window{h: t.hub, id: hello.WindowID, title: hello.Title, actsFor: hello.ActsFor, n: t.attached, sink: sink,
		roots: hello.Roots, extensions: hello.Extensions, attached: true, work: &windowWork{}}
	w.ctx, w.endContext = context.WithCancelCause(t.hub.life)
	w.declare(hello.Kinds, hello.SamplingTools)
	if w.id == "" {
		w.id = core.OwnID(t.hub.mark, "window", w.n)
		for t.windows[w.id] != nil {
			w.id += "'"
		}
	}
	start := t.snapshot(w, hello.MaxHistory)
	if before != nil {
		before.forget()
		w.work = before.work
	} else if left := t.left[w.id]; left != nil {
		w.work = left
		delete(t.left, w.id)
	}
	t.windows[w.id] = w
	return w, start, nil
}

// close ends every window because the hub shuts down. It returns their ids.
func (t *windowTable) close() (ids []string) {
	for _, w := range t.inOrder() {
		if w.attached {
			w.endAttachment(event.ErrDraining())
			w.sink.Closed(event.Fail(event.CodeUnavailable, event.ReasonDraining, nil, "the hub is shutting down"))
		}
		w.forget()
		ids = append(ids, w.id)
	}
	clear(t.windows)
	return ids
}

// expect calls notBack after a time, without the lock, unless the window has come back. It takes the place of an
// earlier call. A window that is not in the table is not waited for: the hub has been closed.
func (t *windowTable) expect(id string, within time.Duration, notBack func()) {
	if w := t.windows[id]; w != nil {
		w.forget()
		w.returnTimer = time.AfterFunc(within, notBack)
	}
}

// remove forgets a window that has detached, but not what runs for it: it may attach again.
func (t *windowTable) remove(id string) {
	if w := t.windows[id]; w != nil && w.work.busy() {
		t.left[id] = w.work
	}
	delete(t.windows, id)
}

// settle forgets the work of a window that is gone once nothing of it runs.
func (t *windowTable) settle(w *Window) {
	if t.left[w.id] == w.work && !w.work.busy() {
		delete(t.left, w.id)
	}
}

func (t *windowTable) inOrder() []*Window {
	return slices.SortedFunc(maps.Values(t.windows), func(a, b *Window) int { return cmp.Compare(a.n, b.n) })
}

// wants reports whether w is sent the event b. It is sent every event except prompts that it cannot show.
func (w *Window) wants(b event.Body) bool {
	opened, ok := b.(*event.PromptOpened)
	return !ok || w.kinds.Has(opened.Prompt.Kind, w.h.held().withTools(opened.Prompt.ID))
}

// capabilities returns the client capabilities that the windows together have.
func (t *windowTable) capabilities() mcp.Capabilities {
	shows := t.hub.held().core.Shows()
	return mcp.Capabilities{
		Roots:           true, // an empty list is an answer, too
		Sampling:        shows.Has(event.PromptSampling, false),
		SamplingTools:   shows.Has(event.PromptSampling, true),
		ElicitationForm: shows.Has(event.PromptElicitationForm, false),
		ElicitationURL:  shows.Has(event.PromptElicitationURL, false),
		Extensions:      t.extensions(),
	}
}

// extensions returns the MCP extensions that the attached windows show. If two windows show the same one, the settings
// of the older window count.
func (t *windowTable) extensions() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	for _, w := range t.inOrder() {
		for name, settings := range w.extensions {
			if _, known := all[name]; known || !w.attached {
				continue
			}
			if all == nil {
				all = map[string]json.RawMessage{}
			}
			all[name] = settings
		}
	}
	return all
}

// allRoots returns the workspace folders of all windows in the order of attachment, each URI once. Windows that may
// come back count.
func (t *windowTable) allRoots() []Root {
	var roots []Root
	seen := map[string]bool{}
	for _, w := range t.inOrder() {
		for _, r := range w.roots {
			if !seen[r.URI] {
				seen[r.URI] = true
				roots = append(roots, r)
			}
		}
	}
	return roots
}

// foldersOfRoots returns the URIs of roots.
func foldersOfRoots(roots []Root) []string {
	uris := make([]string, 0, len(roots))
	for _, r := range roots {
		uris = append(uris, r.URI)
	}
	return uris
}

// snapshot returns what w is sent first. w is not in the table yet.
func (t *windowTable) snapshot(w *Window, maxHistory int) *WindowStart {
	st := t.hub.held()
	servers := st.serverInfos()
	snap := &event.Snapshot{Time: time.Now(), Problems: st.config.Problems(), History: t.history.Latest(maxHistory),
		Requests: st.requestInfos(func(*request) bool { return true }), Subscriptions: st.subscriptions(w.id)}
	start := &WindowStart{Snapshot: snap}
	room := bounds.SnapshotServers / max(len(servers), 1)
	for _, info := range servers {
		if event.PayloadSize(&event.ServerChanged{Server: info}) > room { // sent in full right after the snapshot
			start.Events = append(start.Events, event.Event{Body: &event.ServerChanged{Server: info}})
			info.Instructions, info.Capabilities, info.Stderr = "", "", nil
		}
		snap.Servers = append(snap.Servers, info)
	}
	room = bounds.SnapshotPrompts
	for _, p := range st.promptsShown() {
		switch size := p.info.Size(); {
		case !w.kinds.Has(p.info.Kind, p.withTools):
		case size > room: // sent after the snapshot, as if they opened now
			start.Events = append(start.Events, event.Event{Body: &event.PromptOpened{Prompt: p.info}})
			snap.LaterPrompts = append(snap.LaterPrompts, p.info.ID)
		default:
			room -= size
			snap.Prompts = append(snap.Prompts, p.info)
		}
	}
	for i, e := range start.Events {
		start.Events[i] = t.numbered(e.Body)
	}
	return start
}
