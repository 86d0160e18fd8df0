package matrix

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

var allKinds = []event.PromptKind{event.PromptToolApproval, event.PromptSampling, event.PromptElicitationForm,
	event.PromptElicitationURL}

// view is a window that records on the tape what it is told about requests, prompts and tools. The request that starts
// a session is left out.
type view struct {
	t    *testing.T
	tape *tape
	win  *hub.Window

	mu      sync.Mutex // guards what follows
	started map[string]bool
	ended   map[string]event.Body // by request: its terminal event, updated when the delivery of the cancel is known
	opened  []event.PromptInfo
	closed  map[string]*event.PromptClosed
	server  event.ServerState
	fell    chan struct{} // closed when the server is not ready any more, after it was
	fall    func()        // closes fell, once
}

func newView(t *testing.T, tp *tape) *view {
	fell := make(chan struct{})
	return &view{t: t, tape: tp, started: map[string]bool{}, ended: map[string]event.Body{},
		closed: map[string]*event.PromptClosed{}, fell: fell, fall: sync.OnceFunc(func() { close(fell) })}
}

func attach(t *testing.T, h *hub.Hub, tp *tape) *view {
	t.Helper()
	v := newView(t, tp)
	win, _, err := h.Attach(hub.Hello{WindowID: "w", Kinds: allKinds, SamplingTools: true}, v)
	if err != nil {
		t.Fatal(err)
	}
	v.win = win
	return v
}

// Deliver implements hub.Sink.
func (v *view) Deliver(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch b := e.Body.(type) {
	case *event.ServerChanged:
		if v.server == event.ServerReady && b.Server.State != event.ServerReady {
			v.fall()
		}
		v.server = b.Server.State
	case *event.RequestStarted:
		if b.Request.Method == "initialize" {
			return
		}
		v.started[b.Request.ID] = true
		v.tape.windowLine("%s started: %s %s", b.Request.ID, b.Request.Direction, b.Request.Method)
	case *event.RequestProgressed:
		if !v.started[b.RequestID] {
			return
		}
		text := ""
		if b.Progress != nil {
			text = fmt.Sprintf(", progress %v", b.Progress.Progress)
		}
		if b.Task != nil {
			text += fmt.Sprintf(", task %s", b.Task.Status)
		}
		v.tape.windowLine("%s is %s%s", b.RequestID, b.State, text)
	case *event.RequestCancelling:
		v.tape.windowLine("%s is cancelling: by %s, %q", b.RequestID, b.Cancellation.Origin, b.Cancellation.Reason)
	case *event.RequestCancelled:
		v.tape.windowLine("%s is cancelled: by %s, %q, %s, may continue %t", b.RequestID, b.Cancellation.Origin,
			b.Cancellation.Reason, b.Sending.Delivery, b.ServerMayContinue)
		v.terminal(b.RequestID, b)
	case *event.RequestCancelDelivery:
		if over, ok := v.ended[b.RequestID].(*event.RequestCancelled); ok {
			now := *over
			now.Sending = b.Sending
			v.ended[b.RequestID] = &now
		}
		v.tape.windowLine("the cancel of %s is %s", b.RequestID, b.Sending.Delivery)
	case *event.RequestFinished:
		if !v.started[b.RequestID] {
			return
		}
		text := ""
		if b.Err != nil {
			text = ": " + b.Err.Reason
		}
		v.tape.windowLine("%s is %s%s, may continue %t", b.RequestID, b.State, text, b.ServerMayContinue)
		v.terminal(b.RequestID, b)
	case *event.PromptOpened:
		v.opened = append(v.opened, b.Prompt)
		v.tape.windowLine("%s opened: %s for %s", b.Prompt.ID, b.Prompt.Kind, b.Prompt.RequestID)
	case *event.PromptClosed:
		if v.closed[b.PromptID] != nil {
			v.t.Errorf("%s closed twice", b.PromptID)
		}
		v.closed[b.PromptID] = b
		v.tape.windowLine("%s closed: %s by %s, %q", b.PromptID, b.Cause, b.Origin, b.Reason)
	case *event.ToolsChanged:
		v.tape.windowLine("tools changed")
	}
}

func (v *view) terminal(id string, b event.Body) { // called with mu held
	if v.ended[id] != nil {
		v.t.Errorf("request %s ended twice: %+v, then %+v", id, v.ended[id], b)
	}
	v.ended[id] = b
}

// Closed implements hub.Sink.
func (v *view) Closed(*event.Error) {}

// end returns the terminal event of a request, with the delivery of the cancel as far as it is known, or nil if there
// is none yet.
func (v *view) end(id string) event.Body {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended[id]
}

// questions returns the request ids of the server's questions.
func (v *view) questions() (ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range v.opened {
		if p.ParentRequestID != "" && !slices.Contains(ids, p.RequestID) {
			ids = append(ids, p.RequestID)
		}
	}
	return ids
}

// prompt returns the only open prompt. It fails the test if there is not exactly one.
func (v *view) prompt() event.PromptInfo {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	var open []event.PromptInfo
	for _, p := range v.opened {
		if v.closed[p.ID] == nil {
			open = append(open, p)
		}
	}
	if len(open) != 1 {
		v.t.Fatalf("%d prompts are open, want 1", len(open))
	}
	return open[0]
}

// complete checks that every request has ended and every prompt is closed.
func (v *view) complete() {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for id := range v.started {
		if v.ended[id] == nil {
			v.t.Errorf("request %s has no terminal event", id)
		}
	}
	for _, p := range v.opened {
		if v.closed[p.ID] == nil {
			v.t.Errorf("%s was never closed", p.ID)
		}
	}
}
