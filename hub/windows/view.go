package windows

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// wants reports whether w is sent the event b. It is sent every event except prompts that it cannot show.
func (w *Window) wants(b event.Body) bool {
	opened, ok := b.(*event.PromptOpened)
	return !ok || w.kinds.Has(opened.Prompt.Kind, w.table.House.WithTools(opened.Prompt.ID))
}

// Capabilities returns the client capabilities that the windows together have.
func (t *Table) Capabilities() mcp.Capabilities {
	shows := t.House.Shows()
	return mcp.Capabilities{
		Roots:           true, // an empty list is an answer, too
		Sampling:        shows.Has(event.PromptSampling, false),
		SamplingTools:   shows.Has(event.PromptSampling, true),
		ElicitationForm: shows.Has(event.PromptElicitationForm, false),
		ElicitationURL:  shows.Has(event.PromptElicitationURL, false),
		Extensions:      t.extensions(),
	}
}

// extensions returns the MCP extensions that the attached windows show. If two windows show the same one, the settings
// of the older window count.
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

// Roots returns the workspace folders of all windows in the order of attachment, each URI once. Windows that may come
// back count.
func (t *Table) Roots() []Root {
	var roots []Root
	seen := map[string]bool{}
	for _, w := range t.inOrder() {
		for _, r := range w.roots {
			if !seen[r.URI] {
				seen[r.URI] = true
				roots = append(roots, r)
			}
		}
	}
	return roots
}

// Folders returns the URIs of roots.
func Folders(roots []Root) []string {
	uris := make([]string, 0, len(roots))
	for _, r := range roots {
		uris = append(uris, r.URI)
	}
	return uris
}
