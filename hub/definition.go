package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

// pinKey is a tool, whatever its definition, of a server that is started just so.
type pinKey struct{ server, launch, tool string }

// pin is the definition of a tool that was let through last. A config that allows a tool names it and nothing more, and
// a server may give the name another meaning later (CVE-2025-54136). So the first sight of such a tool is pinned
// without a question, and a change asks.
type pin struct {
	Server     string    `json:"server"`
	Launch     string    `json:"launch"`
	Tool       string    `json:"tool"`
	Hash       string    `json:"definitionHash"`
	Time       time.Time `json:"time"`
	Definition string    `json:"definition,omitempty"` // "" = too large to keep
}

func (p pin) Key() pinKey     { return pinKey{p.Server, p.Launch, p.Tool} }
func (p pin) When() time.Time { return p.Time }

var pinForm = statefile.ListForm[pin]{
	File: "definitions.json", Member: "definitions", What: "definitions of tools", Version: 1, Max: 4096,
	Room: maxDefinitions, Shorten: func(p *pin) { p.Definition = "" },
	Check: func(p *pin, _ int) error {
		p.Definition = definitionKept(p.Definition)
		return nil
	},
}

// pinOf is the pin of a definition from now on.
func pinOf(key approvalKey, definition string) pin {
	return pin{Server: key.server, Launch: key.launch, Tool: key.tool, Hash: key.hash, Time: time.Now().UTC(),
		Definition: definitionKept(definition)}
}

// pinned tells whether a definition is the one that was let through last.
func (h *Hub) pinned(key approvalKey) bool {
	p, ok := h.pins.Get(key.pin())
	return ok && p.Hash == key.hash
}

// pinFirst pins a definition unless there is one for the tool, perhaps of another hub. It may write a file: without the
// lock. false: it is not the pinned one.
func (h *Hub) pinFirst(key approvalKey, definition string) bool {
	h.pins.Refresh()
	p := h.pins.PutNew(pinOf(key, definition))
	h.pins.Save()
	return p.Hash == key.hash
}

// agreedBefore gives the definition of a tool that was agreed to last, when it was another one than that of key; ok is
// false when there is none. The definition is "" when it was too large to keep. h.mu is held.
func (h *Hub) agreedBefore(key approvalKey) (hash, definition string, ok bool) {
	var at time.Time
	look := func(other approvalKey, t time.Time, text string) {
		if other.pin() == key.pin() && (!ok || t.After(at) || t.Equal(at) && other.hash == key.hash) {
			hash, definition, at, ok = other.hash, text, t, true
		}
	}
	for _, w := range h.windows {
		for k, a := range w.approvals {
			look(k, a.Time, a.Definition)
		}
	}
	for id, a := range h.approvals.All() {
		look(id.approvalKey, a.Time, a.Definition)
	}
	if p, pinned := h.pins.Get(key.pin()); pinned {
		look(approvalKey{key.server, key.launch, key.tool, p.Hash}, p.Time, p.Definition)
	}
	if hash == key.hash {
		return "", "", false
	}
	return hash, definition, ok
}
