package mcp

import (
	"encoding/json"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// ToolUI describes the view of a tool (MCP Apps 2026-01-26, "Resource Discovery": _meta.ui).
type ToolUI struct {
	Resource                         string // ui:// URI of the resource that shows its calls, "" for none
	HiddenFromModels, HiddenFromApps bool   // visibility: both may call a tool that has none
}

// readToolUI parses _meta of a tool. The flat key is the older spelling; the nested one takes precedence.
func readToolUI(meta json.RawMessage) (ui ToolUI) {
	nested := jsontext.Get(meta, protocol.MetaUI)
	uri := jsontext.String(jsontext.Get(nested, "resourceUri"))
	if uri == "" {
		uri = jsontext.String(jsontext.Get(meta, protocol.MetaUIResource))
	}
	if strings.HasPrefix(uri, "ui://") && len(uri) <= bounds.AppURIBytes {
		ui.Resource = uri
	}
	forModels, forApps := false, false
	if jsontext.Elements(jsontext.Get(nested, "visibility"), func(who json.RawMessage) bool {
		switch jsontext.String(who) {
		case "model":
			forModels = true
		case "app":
			forApps = true
		}
		return true
	}) {
		ui.HiddenFromModels, ui.HiddenFromApps = !forModels, !forApps
	}
	return ui
}
