package windows

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
)

// House is the part of the hub that the windows need. All methods but Update are called with the lock held.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// MintWindow returns an id for the n-th window, which brought none.
	MintWindow(n uint64) string
	// Shows returns what the windows together can show.
	Shows() event.Kinds
	// WithTools reports whether an open prompt is a sampling request with tools.
	WithTools(promptID string) bool
	// Prompts returns the open prompts, oldest first.
	Prompts() []Prompt
	// Requests returns the open requests, oldest first.
	Requests() []event.RequestInfo
	// Servers returns the servers in config order, and the problems of the config that belong to no single server.
	Servers() ([]event.ServerInfo, []event.ConfigProblem)
	// Subscriptions returns the subscriptions of a window.
	Subscriptions(windowID string) []event.Subscription
}

// Prompt is an open prompt.
type Prompt struct {
	Info      event.PromptInfo
	WithTools bool // a sampling request with tools
}

// Options are the options of a Table. All are required.
type Options struct {
	House House
	HubID string
	Life  context.Context // ends with the hub
	Work  *sync.WaitGroup // counts the hub's goroutines; one may begin for as long as a window is attached
}

// Table is the set of a hub's windows, and the events that they are sent. NewTable makes it.
type Table struct {
	Options
	History journal.History // the requests that have ended

	seq      uint64             // number of the latest event
	windows  map[string]*Window // the attached windows, and detached ones that may come back
	attached uint64             // counts attachments, for order
	running  int                // how many orders of all windows are running
	left     map[string]*work   // the work of windows that are gone, while something of it runs
}

// NewTable returns a table without windows.
func NewTable(o Options) *Table {
	return &Table{Options: o, windows: map[string]*Window{}, left: map[string]*work{}}
}

// Seq returns the number of the latest event.
func (t *Table) Seq() uint64 { return t.seq }

// Len returns the number of windows, including the detached ones that may come back.
func (t *Table) Len() int { return len(t.windows) }

// Emit sends an event to every attached window that wants it, and records the end of a request.
func (t *Table) Emit(b event.Body) {
	e := t.numbered(b)
	switch b.(type) {
	case *event.RequestCancelled, *event.RequestFinished:
		t.History.Add(e)
	}
	for _, w := range t.windows {
		if w.attached && w.wants(b) {
			w.sink.Deliver(e)
		}
	}
}

// numbered returns a new event. No other event has its number.
func (t *Table) numbered(b event.Body) event.Event {
	t.seq++
	return event.Event{Seq: t.seq, Time: time.Now(), Body: b}
}

// Attach adds a window to the table, and returns what it is sent first. The events that the sink gets follow the start
// without a gap. Error: ALREADY_EXISTS WINDOW_ID_IN_USE.
func (t *Table) Attach(hello *Hello, sink Sink) (*Window, *Start, error) {
	before := t.windows[hello.WindowID]
	if before != nil && before.attached && hello.ComesBackTo == t.HubID {
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
	w := &Window{table: t, id: hello.WindowID, title: hello.Title, actsFor: hello.ActsFor, n: t.attached, sink: sink,
		roots: hello.Roots, extensions: hello.Extensions, attached: true, work: &work{}}
	w.ctx, w.endContext = context.WithCancelCause(t.Life)
	w.declare(hello.Kinds, hello.SamplingTools)
	if w.id == "" {
		w.id = t.House.MintWindow(w.n)
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

// Close ends every window because the hub shuts down. It returns their ids.
func (t *Table) Close() (ids []string) {
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

// Expect calls notBack after a time, without the lock, unless the window has come back. It takes the place of an
// earlier call. A window that is not in the table is not waited for: the hub has been closed.
func (t *Table) Expect(id string, within time.Duration, notBack func()) {
	if w := t.windows[id]; w != nil {
		w.forget()
		w.farewell = time.AfterFunc(within, notBack)
	}
}

// Remove forgets a window that has detached, but not what runs for it: it may attach again.
func (t *Table) Remove(id string) {
	if w := t.windows[id]; w != nil && w.work.busy() {
		t.left[id] = w.work
	}
	delete(t.windows, id)
}

// settle forgets the work of a window that is gone once nothing of it runs.
func (t *Table) settle(w *Window) {
	if t.left[w.id] == w.work && !w.work.busy() {
		delete(t.left, w.id)
	}
}

func (t *Table) inOrder() []*Window {
	return slices.SortedFunc(maps.Values(t.windows), func(a, b *Window) int { return cmp.Compare(a.n, b.n) })
}
