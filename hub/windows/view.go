package windows

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Shows tells whether w can show a question. withTools says that it is sampling that brings tools.
func (w *Window) Shows(kind event.PromptKind, withTools bool) bool {
	return w.kinds[kind] && (!withTools || w.samplingTools)
}

// wants tells whether w is told of b.
func (w *Window) wants(b event.Body) bool {
	opened, ok := b.(*event.PromptOpened)
	return !ok || w.Shows(opened.Prompt.Kind, w.table.House.WithTools(opened.Prompt.ID))
}

// CanShow tells whether a window can show a question. One that is expected back counts: a question waits for it as long
// as it may take to come back.
func (t *Table) CanShow(kind event.PromptKind, withTools bool) bool {
	for _, w := range t.windows {
		if !w.gone && w.Shows(kind, withTools) {
			return true
		}
	}
	return false
}

// Capabilities are what the windows can serve.
func (t *Table) Capabilities() mcp.Capabilities {
	return mcp.Capabilities{
		Roots:           true, // an empty list is an answer, too
		Sampling:        t.CanShow(event.PromptSampling, false),
		SamplingTools:   t.CanShow(event.PromptSampling, true),
		ElicitationForm: t.CanShow(event.PromptElicitationForm, false),
		ElicitationURL:  t.CanShow(event.PromptElicitationURL, false),
		Extensions:      t.extensions(),
	}
}

// extensions is what the attached windows can show of MCP's extensions. Of two windows that show the same one, the word
// of the older counts.
func (t *Table) extensions() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	for _, w := range t.inOrder() {
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

// Roots gives the workspace folders of all windows in the order of attachment, each URI once. A window that may come
// back still counts.
func (t *Table) Roots() []Root {
	var roots []Root
	seen := map[string]bool{}
	for _, w := range t.inOrder() {
		for _, r := range w.roots {
			if !w.gone && !seen[r.URI] {
				seen[r.URI] = true
				roots = append(roots, r)
			}
		}
	}
	return roots
}

// Folders are the URIs of roots.
func Folders(roots []Root) []string {
	uris := make([]string, 0, len(roots))
	for _, r := range roots {
		uris = append(uris, r.URI)
	}
	return uris
}
