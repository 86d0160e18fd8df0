package windows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// house is a hub with windows alone: what it shows is set by the test. Tests use it on one goroutine; only the work of
// windows runs beside that, and the cleanup waits for it.
type house struct {
	*windows.Table
	t     *testing.T
	shows event.Kinds // what all windows have shown
	end   context.CancelCauseFunc
	work  sync.WaitGroup

	mu       sync.Mutex
	prompts  []windows.Prompt
	requests []event.RequestInfo
	servers  []event.ServerInfo
}

func newHouse(t *testing.T) *house {
	h := &house{t: t}
	life, end := context.WithCancelCause(context.Background())
	h.end = end
	h.Table = windows.NewTable(windows.Options{House: h, HubID: "hub-1", Life: life, Work: &h.work})
	t.Cleanup(func() {
		end(context.Canceled)
		h.work.Wait()
	})
	return h
}

func (h *house) Update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *house) MintWindow(n uint64) string { return fmt.Sprintf("w%d", n) }

func (h *house) WithTools(id string) bool {
	for _, p := range h.prompts {
		if p.Info.ID == id {
			return p.WithTools
		}
	}
	return false
}

func (h *house) Shows() event.Kinds                                   { return h.shows }
func (h *house) Prompts() []windows.Prompt                            { return h.prompts }
func (h *house) Requests() []event.RequestInfo                        { return h.requests }
func (h *house) Servers() ([]event.ServerInfo, []event.ConfigProblem) { return h.servers, nil }
func (h *house) Subscriptions(string) []event.Subscription            { return nil }

// opens opens a prompt.
func (h *house) opens(id string, kind event.PromptKind, withTools bool, payload string) {
	p := windows.Prompt{Info: event.PromptInfo{ID: id, Kind: kind, Question: &event.Question{Message: payload}},
		WithTools: withTools}
	h.prompts = append(h.prompts, p)
	h.Emit(&event.PromptOpened{Prompt: p.Info})
}

// view is an attached window, and what it was told.
type view struct {
	*windows.Window
	start  *windows.Start
	told   []event.Event
	closed []*event.Error
}

func (v *view) Deliver(e event.Event) {
	if len(v.closed) > 0 {
		panic("an event after the end")
	}
	v.told = append(v.told, e)
}

func (v *view) Closed(err *event.Error) { v.closed = append(v.closed, err) }

func (h *house) try(hello windows.Hello) (*view, error) {
	v := &view{}
	var err error
	if v.Window, v.start, err = h.Attach(&hello, v); err == nil {
		h.shows.Join(v.Kinds())
	}
	return v, err
}

func (h *house) attach(hello windows.Hello) *view {
	h.t.Helper()
	v, err := h.try(hello)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// window is one that shows these kinds.
func window(id string, kinds ...event.PromptKind) windows.Hello {
	return windows.Hello{WindowID: id, Kinds: kinds}
}

// again is the hello of a window that comes back.
func again(hello windows.Hello) windows.Hello {
	hello.ComesBackTo = "hub-1"
	return hello
}

// texts gives a short text for each event.
func texts(events []event.Event) (list []string) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case *event.PromptOpened:
			list = append(list, "? "+b.Prompt.ID)
		case *event.RequestProgressed:
			list = append(list, "progress "+b.RequestID)
		case *event.LogMessage:
			list = append(list, "log")
		case *event.RequestFinished:
			list = append(list, "finished "+b.RequestID)
		case *event.ServerChanged:
			list = append(list, "server "+b.Server.Name)
		default:
			list = append(list, fmt.Sprintf("%T", b))
		}
	}
	return list
}

func finished(id string) event.Body { return &event.RequestFinished{RequestID: id} }

func wantTexts(t *testing.T, what string, events []event.Event, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, texts(events)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	for i := 1; i < len(events); i++ {
		if events[i].Seq <= events[i-1].Seq {
			t.Errorf("%s: event %d follows event %d", what, events[i].Seq, events[i-1].Seq)
		}
	}
}

func wantRefusal(t *testing.T, err error, reason string) {
	t.Helper()
	if err == nil || event.AsError(err).Reason != reason {
		t.Errorf("error %v, want %s", err, reason)
	}
}

// A window that comes back gets a snapshot, which has the ends that it missed, and then each event once.
func TestReturn(t *testing.T) {
	h := newHouse(t)
	h.Emit(finished("r0"))
	hello := window("a", event.PromptSampling)
	a := h.attach(hello)
	h.Emit(finished("r1"))
	wantTexts(t, "attached", a.told, "finished r1")
	a.Part()
	h.Emit(finished("r2"))
	h.Emit(&event.LogMessage{})
	h.opens("p1", event.PromptSampling, false, "")
	h.opens("p2", event.PromptSampling, true, "") // it brings tools, which a does not show
	h.requests = []event.RequestInfo{{ID: "r3"}}

	hello.MaxHistory = 2
	back := h.attach(again(hello))
	s := back.start.Snapshot
	if len(s.History) != 2 || len(s.Prompts) != 1 || s.Prompts[0].ID != "p1" || len(s.Requests) != 1 {
		t.Fatalf("the snapshot is %+v", s)
	}
	if len(a.told) != 1 || len(a.closed) != 0 {
		t.Errorf("the attachment of before was told %s, closed %v", texts(a.told), a.closed)
	}
	h.Emit(finished("r4"))
	wantTexts(t, "after the start", back.told, "finished r4")

	// With more kinds than before: also the questions that it could not show.
	back.Part()
	hello.SamplingTools = true
	if s := h.attach(again(hello)).start.Snapshot; len(s.Prompts) != 2 {
		t.Errorf("with tools: %+v", s.Prompts)
	}
}

// Two streams of one id: the second is refused, unless it knows what only the first can know.
func TestSecondStreamOfAWindow(t *testing.T) {
	h := newHouse(t)
	a := h.attach(window("a"))
	for _, hello := range []windows.Hello{window("a"),
		{WindowID: "a", ComesBackTo: "hub-0"}} {
		_, err := h.try(hello)
		wantRefusal(t, err, event.ReasonWindowIDInUse)
	}
	h.Emit(finished("r1"))
	wantTexts(t, "still attached", a.told, "finished r1")

	b := h.attach(again(window("a")))
	if len(a.closed) != 1 || a.closed[0].Reason != event.ReasonWindowSuperseded || a.Attached() {
		t.Fatalf("the first stream ended with %v", a.closed)
	}
	h.Emit(finished("r2"))
	wantTexts(t, "of the first", a.told, "finished r1")
	wantTexts(t, "of the second", b.told, "finished r2")
	if a.Replace(nil) {
		t.Error("the first stream counts as the window")
	}
	if !b.Attached() || h.Len() != 1 {
		t.Error("the end of the first stream ended the window")
	}
}

// An id that the hub mints is that of no other window, whatever ids windows have chosen.
func TestMintedWindowIDs(t *testing.T) {
	h := newHouse(t)
	seen := map[string]bool{}
	for _, chosen := range []string{"w3", "w3'", "", "w5", ""} {
		id := h.attach(window(chosen)).ID()
		if id == "" || seen[id] || chosen != "" && id != chosen {
			t.Errorf("a window that chose %q is %q", chosen, id)
		}
		seen[id] = true
	}
}

// A question goes to the windows that show it, each time once; everything else to all.
func TestWhoIsTold(t *testing.T) {
	h := newHouse(t)
	none, form := h.attach(window("none")), h.attach(window("form", event.PromptElicitationForm))
	sampling := h.attach(window("sampling", event.PromptSampling))
	gone := h.attach(window("gone", event.PromptSampling))
	gone.Part()
	h.opens("p1", event.PromptElicitationForm, false, "")
	h.opens("p2", event.PromptSampling, false, "")
	h.opens("p3", event.PromptSampling, true, "")
	h.Emit(finished("r"))
	wantTexts(t, "none", none.told, "finished r")
	wantTexts(t, "form", form.told, "? p1", "finished r")
	wantTexts(t, "sampling", sampling.told, "? p2", "finished r")
	wantTexts(t, "gone", gone.told)

	// what it declares anew is told once, also when it declares it twice, or takes it back and declares it again
	kinds := []event.PromptKind{event.PromptElicitationForm, event.PromptSampling}
	form.Declare(kinds, true, nil)
	form.Declare(kinds, true, nil)
	form.Declare(append(kinds, 99, -1), true, nil)
	wantTexts(t, "form", form.told, "? p1", "finished r", "? p2", "? p3")
	form.Declare(nil, true, nil)
	if h.opens("p4", event.PromptSampling, false, ""); len(form.told) != 4 {
		t.Errorf("a window that shows nothing was told %s", texts(form.told))
	}
	wantTexts(t, "sampling", sampling.told, "? p2", "finished r", "? p4")
}

func TestWhatWindowsShow(t *testing.T) {
	h := newHouse(t)
	a := h.attach(windows.Hello{WindowID: "a", Kinds: []event.PromptKind{event.PromptSampling},
		Extensions: map[string]json.RawMessage{"ui": json.RawMessage(`1`)}})
	h.attach(windows.Hello{WindowID: "b", SamplingTools: true,
		Extensions: map[string]json.RawMessage{"ui": json.RawMessage(`2`), "x": json.RawMessage(`3`)}})
	c := h.Capabilities()
	if !c.Sampling || c.SamplingTools || c.ElicitationForm || c.ElicitationURL || !c.Roots {
		t.Errorf("capabilities %+v", c) // the kind is one window's, the tools are another's: nobody shows both
	}
	want := map[string]json.RawMessage{"ui": json.RawMessage(`1`), "x": json.RawMessage(`3`)}
	if diff := cmp.Diff(want, c.Extensions); diff != "" {
		t.Errorf("extensions (-want +got):\n%s", diff)
	}
	a.Part()
	if c := h.Capabilities(); !c.Sampling || string(c.Extensions["ui"]) != "2" {
		t.Error("a question does not wait for a window that may come back, or its extensions count without it")
	}
}

func TestRoots(t *testing.T) {
	h := newHouse(t)
	roots := func(uris ...string) (list []windows.Root) {
		for _, uri := range uris {
			list = append(list, windows.Root{URI: uri})
		}
		return list
	}
	want := func(uris ...string) {
		t.Helper()
		if diff := cmp.Diff(append([]string{}, uris...), windows.Folders(h.Roots())); diff != "" {
			t.Errorf("roots (-want +got):\n%s", diff)
		}
	}
	want()
	a := h.attach(windows.Hello{WindowID: "z", Roots: roots("file:///1", "file:///2", "file:///1")})
	b := h.attach(windows.Hello{WindowID: "b", Roots: roots("file:///2", "file:///3")})
	want("file:///1", "file:///2", "file:///3")
	if !b.Replace(roots("file:///4")) {
		t.Error("Replace on an attached window returned false")
	}
	want("file:///1", "file:///2", "file:///4")
	a.Part() // it may come back
	want("file:///1", "file:///2", "file:///4")
	h.Remove("z")
	want("file:///4")
	if a.Replace(roots("file:///9")) {
		t.Error("Replace on a window that is gone returned true")
	}
	want("file:///4")
}

// What does not fit into a snapshot follows it at once, as events of this window alone.
func TestSnapshotIsBounded(t *testing.T) {
	h := newHouse(t)
	for i := range 5 {
		h.opens(fmt.Sprint("p", i), event.PromptElicitationForm, false, strings.Repeat("x", bounds.SnapshotPrompts/2))
	}
	h.opens("small", event.PromptElicitationForm, false, "")
	h.opens("other", event.PromptSampling, false, "")
	h.servers = []event.ServerInfo{{Name: "talks", Instructions: strings.Repeat("x", bounds.SnapshotServers)}, {Name: "s"}}
	other := h.attach(window("other", event.PromptElicitationForm))
	v := h.attach(window("a", event.PromptElicitationForm))
	snap, bytes := v.start.Snapshot, 0
	var shown []string
	for _, p := range snap.Prompts {
		shown = append(shown, p.ID)
		bytes += p.Size()
	}
	if diff := cmp.Diff([]string{"p2", "p3", "p4"}, snap.LaterPrompts); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p0", "p1", "small"}, shown); diff != "" || bytes > bounds.SnapshotPrompts {
		t.Errorf("the snapshot has %d bytes of questions (-want +got):\n%s", bytes, diff)
	}
	wantTexts(t, "right after", v.start.Events, "server talks", "? p2", "? p3", "? p4")
	if len(snap.Servers) != 2 || snap.Servers[0].Name != "talks" || snap.Servers[0].Instructions != "" {
		t.Errorf("the snapshot has the servers %+v", snap.Servers)
	}
	if full := v.start.Events[0].Body.(*event.ServerChanged).Server.Instructions; len(full) != bounds.SnapshotServers {
		t.Errorf("the server is told of with %d bytes", len(full))
	}
	if len(other.told) != 0 {
		t.Errorf("the other window was told %s", texts(other.told))
	}
}

func TestClose(t *testing.T) {
	h := newHouse(t)
	var views []*view
	for _, id := range []string{"z", "a", "m"} {
		views = append(views, h.attach(window(id)))
	}
	views[1].Part()
	h.Expect("a", time.Hour, func() { t.Error("waited for a window of a hub that is closed") })
	if diff := cmp.Diff([]string{"z", "a", "m"}, h.Close()); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	for i, v := range views {
		if want := 1 - i%2; len(v.closed) != want || want == 1 && v.closed[0].Reason != event.ReasonDraining || v.Attached() {
			t.Errorf("window %s was ended with %v", v.ID(), v.closed)
		}
	}
	if h.Close() != nil || h.Len() != 0 {
		t.Error("a closed table has windows")
	}
	h.Emit(finished("r")) // nobody is told: view.Deliver panics
	_, err := views[0].TakeTurn()
	wantRefusal(t, err, event.ReasonWindowDetached)
}
