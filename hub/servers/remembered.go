package servers

import (
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

// RememberedTools returns, by server name, the names of the tools that servers listed last to the hubs that used the
// state directory dir. It reads one file and starts no server: completion in a shell must not start servers.
func RememberedTools(dir string) map[string][]string {
	book := openTools(dir, slog.New(slog.DiscardHandler))
	book.load()
	names := map[string][]string{}
	for _, l := range book.All() {
		for _, raw := range l.Tools {
			if t, err := mcp.ReadTool(json.RawMessage(raw)); err == nil && !slices.Contains(names[l.Server], t.Name) {
				names[l.Server] = append(names[l.Server], t.Name)
			}
		}
	}
	return names
}
