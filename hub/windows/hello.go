package windows

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/event"
)

// Root is a workspace folder.
type Root struct{ URI, Name string }

// Hello is how a window introduces itself.
type Hello struct {
	WindowID      string // "" = minted
	Title         string
	Kinds         []event.PromptKind
	SamplingTools bool
	Extensions    map[string]json.RawMessage // extensions of MCP that it can show, by name
	Roots         []Root
	Resume        *Resume
	MaxHistory    int    // ended requests that the snapshot brings
	ActsFor       string // the program that acts in it by itself, "" = a person does
}

// Resume is the last event that a window has seen, and of which hub.
type Resume struct {
	HubID string
	After uint64
}

// Start is what a window is sent first: the events that it missed; or a snapshot, and events with what was too long for
// the snapshot.
type Start struct {
	Resumed  bool
	Events   []event.Event
	Snapshot *event.Snapshot // nil when resumed
}

// Sink takes the events of one window, in order, called while the hub's lock is held: it must not block and must not
// call the hub.
type Sink interface {
	Deliver(event.Event)
	Closed(err *event.Error) // the hub ended the window (shutdown); nothing is delivered afterwards
}
