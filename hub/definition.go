package hub

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// pinKey is a tool, whatever its definition, of a server that is started just so.
type pinKey struct{ server, launch, tool string }

// pin is the definition of a tool that was let through last. A config that allows a tool names it and nothing more, and a server may give the name
// another meaning later (CVE-2025-54136). So the first sight of such a tool is pinned without a question, and a change asks.
type pin struct {
	hash       string
	time       time.Time
	definition string // "" = too large to keep
}

const (
	pinsVersion = 1
	maxPins     = 4096
	// maxPinned bounds the definitions in the file, in bytes; of more the oldest keep only their hash.
	maxPinned = 2 << 20
)

type storedPin struct {
	Server     string    `json:"server"`
	Launch     string    `json:"launch"`
	Tool       string    `json:"tool"`
	Hash       string    `json:"definitionHash"`
	Time       time.Time `json:"time"`
	Definition string    `json:"definition,omitempty"`
}

// openPins opens the definitions; they are read by Hub.recallAnswers.
func openPins(dir string, log *slog.Logger) *kept[pinKey, pin] {
	k := &kept[pinKey, pin]{
		file: openOwnFile(dir, "definitions.json", log), aside: func(digest string) ownFile { return openOwnFile(dir, "definitions."+digest+".aside.json", log) },
		what: "definitions of tools", log: log, decode: decodePins, encode: encodePins,
	}
	return k
}

func decodePins(text []byte) (map[pinKey]pin, error) {
	var file struct {
		Version     int         `json:"version"`
		Definitions []storedPin `json:"definitions"`
	}
	if err := decodeOwn(text, &file, &file.Version, pinsVersion); err != nil {
		return nil, err
	}
	entries := map[pinKey]pin{}
	for _, p := range file.Definitions {
		entries[pinKey{p.Server, p.Launch, p.Tool}] = pin{hash: p.Hash, time: p.Time, definition: definitionKept(p.Definition)}
	}
	return entries, nil
}

func encodePins(entries map[pinKey]pin) ([]byte, error) {
	keys := slices.SortedFunc(maps.Keys(entries), func(a, b pinKey) int { // newest first
		return cmp.Or(entries[b].time.Compare(entries[a].time), cmp.Compare(a.server, b.server), cmp.Compare(a.tool, b.tool), cmp.Compare(a.launch, b.launch))
	})
	stored := []storedPin{}
	size := 0
	for i, key := range keys {
		if i >= maxPins {
			delete(entries, key)
			continue
		}
		p := entries[key]
		if size += len(p.definition); size > maxPinned {
			p.definition = ""
			entries[key] = p
		}
		stored = append(stored, storedPin{Server: key.server, Launch: key.launch, Tool: key.tool, Hash: p.hash, Time: p.time, Definition: p.definition})
	}
	return encodeOwn(map[string]any{"version": pinsVersion, "definitions": stored})
}

// pinned tells whether a definition is the one that was let through last.
func (h *Hub) pinned(key approvalKey) bool {
	p, ok := h.pins.get(key.pin())
	return ok && p.hash == key.hash
}

// pinFirst pins a definition unless there is one for the tool, perhaps of another hub. It may write a file: without the lock. false: it is not the pinned one.
func (h *Hub) pinFirst(key approvalKey, definition string) bool {
	h.pins.refresh()
	p := h.pins.putNew(key.pin(), pin{hash: key.hash, time: time.Now().UTC(), definition: definitionKept(definition)})
	h.pins.save()
	return p.hash == key.hash
}

// agreedBefore gives the definition of a tool that was agreed to last, when it was another one than that of key; ok is false when there is none. The
// definition is "" when it was too large to keep. h.mu is held.
func (h *Hub) agreedBefore(key approvalKey) (hash, definition string, ok bool) {
	var at time.Time
	look := func(other approvalKey, t time.Time, text string) {
		if other.pin() == key.pin() && (!ok || t.After(at) || t.Equal(at) && other.hash == key.hash) {
			hash, definition, at, ok = other.hash, text, t, true
		}
	}
	for _, w := range h.windows {
		for k, a := range w.approvals {
			look(k, a.time, a.definition)
		}
	}
	for id, a := range h.approvals.all() {
		look(id.approvalKey, a.time, a.definition)
	}
	if p, pinned := h.pins.get(key.pin()); pinned {
		look(approvalKey{key.server, key.launch, key.tool, p.hash}, p.time, p.definition)
	}
	if hash == key.hash {
		return "", "", false
	}
	return hash, definition, ok
}
