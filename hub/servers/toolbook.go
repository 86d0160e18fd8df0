package servers

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Bounds of the stored tools of servers that are not connected.
const (
	maxToolLists     = 64
	maxToolListBytes = 1 << 20
	maxToolBytes     = 16 << 20       // for all lists together, as JSON; the oldest go first
	toolListFresh    = 24 * time.Hour // an unchanged list is written again after this time, since the oldest go first
)

// toolKey identifies a stored list: the server's name and its launch key.
type toolKey struct{ server, launch string }

// keyOfTools returns the key under which the lists of s are stored.
func keyOfTools(s *Server) toolKey { return toolKey{server: s.name, launch: s.Key()} }

// toolList is one record of the file. Definitions are JSON texts in strings, so that their bytes stay unchanged.
type toolList struct {
	Server string    `json:"server"`
	Launch string    `json:"launch"`
	Time   time.Time `json:"time"`
	Tools  []string  `json:"tools"`
}

func (l toolList) Key() toolKey    { return toolKey{server: l.Server, launch: l.Launch} }
func (l toolList) When() time.Time { return l.Time }

var toolForm = statefile.ListForm[toolList]{File: "tools.json", Member: "servers", Version: 1,
	Max: maxToolLists, Room: maxToolBytes}

// toolBook stores the tools of servers on disk, for when a server is not connected.
type toolBook struct {
	*statefile.List[toolKey, toolList]
	load func() // reads the file, once
}

func openTools(dir string, log *slog.Logger) *toolBook {
	k := statefile.OpenList(dir, toolForm, log)
	return &toolBook{k, sync.OnceFunc(k.Refresh)}
}

// find returns the tools that were stored last under key, or nil if there are none. It may read the file.
func (b *toolBook) find(key toolKey) []mcp.Tool {
	b.load()
	l, ok := b.Get(key)
	if !ok {
		return nil
	}
	tools := make([]mcp.Tool, 0, len(l.Tools))
	for _, raw := range l.Tools {
		if t, err := mcp.ReadTool(json.RawMessage(raw)); err == nil {
			tools = append(tools, t)
		}
	}
	return tools
}

// keep stores tools under key, unless a fresh record of the same list exists.
func (b *toolBook) keep(key toolKey, tools []mcp.Tool) {
	b.load()
	l := toolList{Server: key.server, Launch: key.launch, Time: time.Now().UTC()}
	size := 0
	for _, t := range tools {
		l.Tools = append(l.Tools, string(t.Raw))
		size += len(t.Raw)
	}
	was, had := b.Get(key)
	switch {
	case size > maxToolListBytes: // too long to be kept; the stored list is outdated all the same
		b.Drop(func(k toolKey, _ toolList) bool { return k == key })
	case had && slices.Equal(was.Tools, l.Tools) && l.Time.Sub(was.Time) < toolListFresh:
		return
	default:
		b.Put(l)
	}
	b.Save()
}
