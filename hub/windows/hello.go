package windows

import (
	"encoding/json"

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

// Start is what a window is sent first: a snapshot, and events with what was too long for it.
type Start struct {
	Snapshot *event.Snapshot
	Events   []event.Event
}

// Sink receives the events of one window, in order. It is called with the hub's lock held: it must not block, and must
// not call the hub.
type Sink interface {
	Deliver(event.Event)
	Closed(err *event.Error) // the hub has ended the window, or its attachment; nothing is delivered afterwards
}
