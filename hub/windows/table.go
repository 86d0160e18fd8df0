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

// House is the hub that the windows are in. All but Update is called with the lock.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// MintWindow makes the id of the n-th window, which has brought none.
	MintWindow(n uint64) string
	// WithTools tells whether an open question is sampling that brings tools.
	WithTools(promptID string) bool
	// Prompts gives the open questions, oldest first.
	Prompts() []Prompt
	// Requests gives the open requests, oldest first.
	Requests() []event.RequestInfo
	// Servers gives the servers in config order, and the problems of no single one.
	Servers() ([]event.ServerInfo, []event.ConfigProblem)
	// Subscriptions gives what a window is subscribed to.
	Subscriptions(windowID string) []event.Subscription
}

// Prompt is an open question.
type Prompt struct {
	Info      event.PromptInfo
	WithTools bool // sampling that brings tools
}

// Options of a Table. All are needed.
type Options struct {
	House House
	HubID string
	Life  context.Context // ends with the hub
	Work  *sync.WaitGroup // has every goroutine of the hub; one may begin for as long as a window is attached
}

// maxGone bounds how many detached windows are remembered for a resume.
const maxGone = 256

// Table has all windows of a hub, and the events that they are told. Make it with NewTable.
type Table struct {
	Options
	History journal.History // of what has ended

	seq      uint64 // of the latest event
	missed   journal.Missed
	windows  map[string]*Window // attached ones, and detached ones that may come back
	attached uint64             // counts attachments, for order
	running  int                // what all windows have under way
}

// NewTable makes the table of a hub.
func NewTable(o Options) *Table { return &Table{Options: o, windows: map[string]*Window{}} }

// Seq is the number of the latest event.
func (t *Table) Seq() uint64 { return t.seq }

// Len counts the windows, detached ones that may come back among them.
func (t *Table) Len() int { return len(t.windows) }

// Gone tells whether a window is detached for good.
func (t *Table) Gone(id string) bool {
	w := t.windows[id]
	return w != nil && w.gone
}

// Emit gives an event to the journal and to every attached window that wants it.
func (t *Table) Emit(b event.Body) {
	t.seq++
	e := event.Event{Seq: t.seq, Time: time.Now(), Body: b}
	t.missed.Add(e, "")
	switch b.(type) {
	case *event.RequestCancelled, *event.RequestFinished:
		for _, without := range t.History.Add(e) {
			t.missed.Replace(without)
		}
	}
	for _, w := range t.windows {
		if w.attached && w.wants(b) {
			w.sink.Deliver(e)
		}
	}
}

// private makes an event for one window alone; its number is used for nothing else.
func (t *Table) private(w *Window, b event.Body) event.Event {
	t.seq++
	e := event.Event{Seq: t.seq, Time: time.Now(), Body: b}
	t.missed.Add(e, w.id)
	return e
}

// Attach brings a window into the table, and gives what it missed, or a snapshot. What is delivered to the sink follows
// the start without a gap. Error: ALREADY_EXISTS WINDOW_ID_IN_USE.
func (t *Table) Attach(hello *Hello, sink Sink) (*Window, *Start, error) {
	before := t.windows[hello.WindowID]
	if before != nil && before.attached && hello.Resume != nil && hello.Resume.HubID == t.HubID {
		// It knows what only that window can know: its stream broke, and the hub has not noticed yet.
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
		roots:         hello.Roots,
		samplingTools: hello.SamplingTools, extensions: hello.Extensions, attached: true, work: &work{}}
	w.ctx, w.endContext = context.WithCancelCause(t.Life)
	w.declare(hello.Kinds)
	if w.id == "" {
		w.id = t.House.MintWindow(w.n)
		for t.windows[w.id] != nil {
			w.id += "'"
		}
	}
	start := t.start(w, hello, before)
	if before != nil {
		before.forget()
		w.work = before.work
	}
	t.windows[w.id] = w
	return w, start, nil
}

// Close ends every window because the hub shuts down. It gives their ids.
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

func (t *Table) inOrder() []*Window {
	return slices.SortedFunc(maps.Values(t.windows), func(a, b *Window) int { return cmp.Compare(a.n, b.n) })
}
