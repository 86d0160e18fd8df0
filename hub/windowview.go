package hub

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// closeUnshowable ends the prompts that no window can show any more, also none that may come back: capabilities that
// need a person must not wait for nobody. h.mu is held.
func (h *Hub) closeUnshowable() {
	for _, p := range h.promptsInOrder() {
		shown := p.checks > 0 // whoever answered it may have gone right after
		for _, w := range h.windows {
			shown = shown || !w.gone && w.shows(p)
		}
		if !shown {
			h.closePrompt(p, closing{cause: event.CauseSuperseded, origin: event.OriginPolicy,
				reason: "no window is left that can show it",
				action: event.ActionDismiss})
		}
	}
}

func (w *Window) forget() {
	if w.farewell != nil {
		w.farewell.Stop()
	}
}

func (w *Window) declare(kinds []event.PromptKind) {
	w.kinds = map[event.PromptKind]bool{}
	for _, k := range kinds {
		w.kinds[k] = true
	}
}

// shows tells whether w can show p.
func (w *Window) shows(p *prompt) bool {
	return w.kinds[p.info.Kind] && (!p.withTools || w.samplingTools)
}

// wants tells whether w is told of b. h.mu is held.
func (w *Window) wants(b event.Body) bool {
	opened, ok := b.(*event.PromptOpened)
	if !ok {
		return true
	}
	if p := w.h.prompts[opened.Prompt.ID]; p != nil {
		return w.shows(p)
	}
	return w.kinds[opened.Prompt.Kind]
}

// canShow tells whether a window can show a kind. One that is expected back counts: a question waits for it as long as
// it may take to come back. h.mu is held.
func (h *Hub) canShow(kind event.PromptKind, withTools bool) bool {
	for _, w := range h.windows {
		if !w.gone && w.kinds[kind] && (!withTools || w.samplingTools) {
			return true
		}
	}
	return false
}

// capabilitiesNow is what the windows can serve. h.mu is held.
func (h *Hub) capabilitiesNow() mcp.Capabilities {
	return mcp.Capabilities{
		Roots:           true, // an empty list is an answer, too
		Sampling:        h.canShow(event.PromptSampling, false),
		SamplingTools:   h.canShow(event.PromptSampling, true),
		ElicitationForm: h.canShow(event.PromptElicitationForm, false),
		ElicitationURL:  h.canShow(event.PromptElicitationURL, false),
		Extensions:      h.extensions(),
	}
}

// extensions is what the attached windows can show of MCP's extensions. Of two windows that show the same one, the word
// of the older counts. h.mu is held.
func (h *Hub) extensions() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	for _, w := range h.windowsInOrder() {
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

// roots gives the workspace folders of all windows in the order of attachment, each URI once. A window that may come
// back still counts. h.mu is held.
func (h *Hub) roots() []Root {
	var roots []Root
	seen := map[string]bool{}
	for _, w := range h.windowsInOrder() {
		for _, r := range w.listed {
			if !w.gone && !seen[r.URI] {
				seen[r.URI] = true
				roots = append(roots, r)
			}
		}
	}
	return roots
}

// folders are the URIs of roots.
func folders(roots []Root) []string {
	uris := make([]string, 0, len(roots))
	for _, r := range roots {
		uris = append(uris, r.URI)
	}
	return uris
}

func (h *Hub) windowsInOrder() []*Window {
	return slices.SortedFunc(maps.Values(h.windows), func(a, b *Window) int { return cmp.Compare(a.n, b.n) })
}
