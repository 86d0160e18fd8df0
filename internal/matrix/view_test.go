package matrix

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

var allKinds = []event.PromptKind{event.PromptToolApproval, event.PromptSampling, event.PromptElicitationForm,
	event.PromptElicitationURL}

// view is a window that records on the tape what it is told about requests, prompts and tools. The request that starts
// a session is left out, and so is that a call has started.
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
		if b.Request.Direction == event.Incoming {
			v.tape.windowLine("%s started: %s", b.Request.ID, b.Request.Method)
		}
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
		v.tape.windowLine("the cancel of %s is %s", b.RequestID, b.Sending.Delivery)
	case *event.RequestAnsweredLate:
		v.tape.windowLine("%s is answered late, without a result %t", b.RequestID, b.Answer.NoResult)
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
		of := ""
		if b.Prompt.ParentRequestID != "" {
			of = " of " + b.Prompt.ParentRequestID
		}
		v.tape.windowLine("%s opened: %s for %s%s", b.Prompt.ID, b.Prompt.Kind, b.Prompt.RequestID, of)
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

// prompt returns a prompt: "prompt-2", or the only open one, or the only open one of a kind.
func (v *view) prompt(which string) event.PromptInfo {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	var found []event.PromptInfo
	for _, p := range v.opened {
		if n, byNumber := strings.CutPrefix(which, "prompt-"); byNumber && strings.HasSuffix(p.ID, "-"+n) ||
			!byNumber && v.closed[p.ID] == nil && strings.Contains(p.Kind.String(), which) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		v.t.Fatalf("there are %d prompts %q, want 1", len(found), which)
	}
	return found[0]
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
