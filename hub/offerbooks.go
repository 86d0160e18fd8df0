package hub

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
func keyOfTools(s *server) toolKey { return toolKey{server: s.name, launch: s.launchKey()} }

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

// restOffer is what a server offers beside its tools.
type restOffer struct {
	resources []mcp.Resource
	templates []mcp.ResourceTemplate
	prompts   []mcp.Prompt
}

// restList is one record of the file, like toolList.
type restList struct {
	Server    string    `json:"server"`
	Launch    string    `json:"launch"`
	Time      time.Time `json:"time"`
	Resources []string  `json:"resources,omitempty"`
	Templates []string  `json:"templates,omitempty"`
	Prompts   []string  `json:"prompts,omitempty"`
}

func (l restList) Key() toolKey    { return toolKey{server: l.Server, launch: l.Launch} }
func (l restList) When() time.Time { return l.Time }

func (l *restList) bytes() (n int) {
	for _, list := range [][]string{l.Resources, l.Templates, l.Prompts} {
		for _, s := range list {
			n += len(s)
		}
	}
	return n
}

var restForm = statefile.ListForm[restList]{File: "offers.json", Member: "servers", Version: 1,
	Max: maxToolLists, Room: maxToolBytes}

// restBook stores the resources, templates and prompts of servers on disk, for when a server is not connected.
type restBook struct {
	*statefile.List[toolKey, restList]
	load func() // reads the file, once
}

func openRest(dir string, log *slog.Logger) *restBook {
	k := statefile.OpenList(dir, restForm, log)
	return &restBook{k, sync.OnceFunc(k.Refresh)}
}

// keepRest stores what s has listed. It takes the lock, and writes a file.
func (s *server) keepRest(r *restOffer) {
	b := s.hub.rest
	b.load()
	l := restList{Time: time.Now().UTC()}
	for _, one := range r.resources {
		l.Resources = append(l.Resources, string(one.Raw))
	}
	for _, one := range r.templates {
		l.Templates = append(l.Templates, string(one.Raw))
	}
	for _, one := range r.prompts {
		l.Prompts = append(l.Prompts, string(one.Raw))
	}
	var key toolKey
	s.hub.within(func() { key = keyOfTools(s) })
	l.Server, l.Launch = key.server, key.launch
	was, had := b.Get(key)
	switch {
	case l.bytes() > maxToolListBytes: // too long to be kept; the stored lists are outdated all the same
		b.Drop(func(k toolKey, _ restList) bool { return k == key })
	case had && slices.Equal(was.Resources, l.Resources) && slices.Equal(was.Templates, l.Templates) &&
		slices.Equal(was.Prompts, l.Prompts) && l.Time.Sub(was.Time) < toolListFresh:
		return
	default:
		b.Put(l)
	}
	b.Save()
}

// recallRest returns what s listed last under its present launch key, perhaps to an earlier hub, or nil if there is no
// such record. It takes the lock, and may read a file.
func (s *server) recallRest() *restOffer {
	b := s.hub.rest
	b.load()
	var key toolKey
	s.hub.within(func() { key = keyOfTools(s) })
	l, ok := b.Get(key)
	if !ok {
		return nil
	}
	return &restOffer{resources: readAll(l.Resources, mcp.ResourceOf),
		templates: readAll(l.Templates, mcp.ResourceTemplateOf),
		prompts:   readAll(l.Prompts, mcp.PromptOf)}
}

// readAll decodes texts, and leaves out those that cannot be decoded.
func readAll[T any](texts []string, read func(json.RawMessage) (T, error)) (list []T) {
	for _, raw := range texts {
		if one, err := read(json.RawMessage(raw)); err == nil {
			list = append(list, one)
		}
	}
	return list
}

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
