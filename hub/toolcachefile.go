package hub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Bounds of what is kept of the tools of servers that are not up.
const (
	maxToolLists     = 64
	maxToolListBytes = 1 << 20
	toolListFresh    = 24 * time.Hour // a list that did not change is written once more after this: the oldest go first
)

// toolKey is what a list of tools holds for: a server that is started just so.
type toolKey struct{ server, launch string }

// keyOfTools: h.mu is held.
func keyOfTools(s *server) toolKey { return toolKey{server: s.name, launch: s.conf.LaunchKey()} }

// toolList is one entry of the file. Definitions are JSON texts in strings, so that they stay as they came, byte for byte.
type toolList struct {
	Server string    `json:"server"`
	Launch string    `json:"launch"`
	Time   time.Time `json:"time"`
	Tools  []string  `json:"tools"`
}

func (l toolList) key() toolKey { return toolKey{server: l.Server, launch: l.Launch} }

type toolFile struct {
	Servers []toolList `json:"servers"`
}

// toolBook keeps the tools of servers for later, in memory and in a file of the hub's own. A file that cannot be read or written costs just that.
type toolBook struct {
	file ownFile
	log  *slog.Logger
	load func() // reads the file, once

	mu      sync.Mutex // guards below; never held over the disk
	known   map[toolKey]toolList
	unsaved map[toolKey]bool
	saving  bool
	failed  bool // it was logged
}

func newToolBook(file ownFile, log *slog.Logger) *toolBook {
	b := &toolBook{file: file, log: log, known: map[toolKey]toolList{}, unsaved: map[toolKey]bool{}}
	b.load = sync.OnceFunc(func() {
		text, err := b.file.Read()
		if err != nil {
			b.trouble(err)
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, l := range parseToolFile(text).Servers {
			if _, newer := b.known[l.key()]; !newer {
				b.known[l.key()] = l
			}
		}
	})
	return b
}

// parseToolFile reads what it can: a file that somebody has broken holds nothing.
func parseToolFile(text []byte) (f toolFile) {
	if len(bytes.TrimSpace(text)) == 0 || json.Unmarshal(text, &f) != nil {
		return toolFile{}
	}
	return f
}

func (b *toolBook) trouble(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.failed {
		b.failed = true
		b.log.Warn("lists of tools are not kept for later", "error", err.Error())
	}
}

// find gives the tools that were listed last under key, nil when none were. It may read the file.
func (b *toolBook) find(key toolKey) []mcp.Tool {
	b.load()
	b.mu.Lock()
	l, ok := b.known[key]
	b.mu.Unlock()
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

// keep notes what was listed and sees to it that it is written: by the caller, or by one who writes already.
func (b *toolBook) keep(key toolKey, tools []mcp.Tool) {
	b.load()
	l := toolList{Server: key.server, Launch: key.launch, Time: time.Now().UTC()}
	size := 0
	for _, t := range tools {
		l.Tools = append(l.Tools, string(t.Raw))
		size += len(t.Raw)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	was, had := b.known[key]
	switch {
	case size > maxToolListBytes: // what was kept is not what there is any more
		if !had {
			return
		}
		delete(b.known, key)
	case had && slices.Equal(was.Tools, l.Tools) && l.Time.Sub(was.Time) < toolListFresh:
		return
	default:
		b.known[key] = l
	}
	b.unsaved[key] = true
	if b.saving {
		return
	}
	b.saving = true
	for len(b.unsaved) > 0 {
		changed := map[toolKey]*toolList{}
		for k := range b.unsaved {
			changed[k] = nil
			if l, ok := b.known[k]; ok {
				changed[k] = &l
			}
		}
		clear(b.unsaved)
		b.mu.Unlock()
		err := b.file.Update(func(old []byte) ([]byte, error) { return mergeToolFile(old, changed) })
		if err != nil {
			b.trouble(err)
		}
		b.mu.Lock()
	}
	b.saving = false
	b.known = newestLists(b.known)
}

// mergeToolFile puts what changed into the file's text; nil takes a list out.
func mergeToolFile(old []byte, changed map[toolKey]*toolList) ([]byte, error) {
	lists := map[toolKey]toolList{}
	for _, l := range parseToolFile(old).Servers {
		lists[l.key()] = l
	}
	for k, l := range changed {
		delete(lists, k)
		if l != nil {
			lists[k] = *l
		}
	}
	var f toolFile
	for _, l := range newestLists(lists) {
		f.Servers = append(f.Servers, l)
	}
	slices.SortFunc(f.Servers, byTime)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func byTime(a, b toolList) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Launch, b.Launch))
}

// newestLists leaves the oldest out where there are too many.
func newestLists(lists map[toolKey]toolList) map[toolKey]toolList {
	if len(lists) <= maxToolLists {
		return lists
	}
	var all []toolList
	for _, l := range lists {
		all = append(all, l)
	}
	slices.SortFunc(all, byTime)
	kept := map[toolKey]toolList{}
	for _, l := range all[len(all)-maxToolLists:] {
		kept[l.key()] = l
	}
	return kept
}
